// Lab vecadd, prelab: each function answers a question of vecadd.h. None is answered yet.
// Check your answers:  ./warpgrade check vecadd --only prelab      (in this folder)
#include "vecadd.h"

double operations_per_access(double operations, double accesses) {
    // TODO(student): return what vecadd.h asks for, here and below.
    return 0;
}

double gflops(double gigabytes_per_second, double ratio) {
    return 0;
}

// --- Predictions

long long bytes_with_copies(long long n, int launches) {
    return 0;
}

long long bytes_mapped(long long n, int launches) {
    return 0;
}

double streams_time(double to_device, double kernel, double to_host, int streams) {
    return 0;
}
