// SOLUTION BEGIN
// STARTER: // Lab vecadd, prelab: each function answers a question of vecadd.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check vecadd --only prelab      (in this folder)
// Lab vecadd, prelab, reference solution: each function answers a question of vecadd.h.
// SOLUTION END
#include "vecadd.h"

// SOLUTION BEGIN
#include <algorithm>

// SOLUTION END
double operations_per_access(double operations, double accesses) {
    // SOLUTION BEGIN
    // TODO(student): return what vecadd.h asks for, here and below.
    // STARTER: return 0;
    return operations / accesses;
    // SOLUTION END
}

double gflops(double gigabytes_per_second, double ratio) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return gigabytes_per_second / sizeof(float) * ratio;
    // SOLUTION END
}

// --- Predictions

long long bytes_with_copies(long long n, int launches) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    (void)launches;                // what is on the device stays there
    return 3 * n * sizeof(float);  // a and b there, c back
    // SOLUTION END
}

long long bytes_mapped(long long n, int launches) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return launches * 3 * n * sizeof(float);  // each load and each store crosses the link
    // SOLUTION END
}

double streams_time(double to_device, double kernel, double to_host, int streams) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    // The longest of the three is busy all the time; of the others, the first or the last piece adds to it.
    const double longest = std::max({to_device, kernel, to_host});
    return longest + (to_device + kernel + to_host - longest) / streams;
    // SOLUTION END
}
