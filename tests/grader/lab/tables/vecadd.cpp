// Lab vecadd, prelab: each function answers a question of vecadd.h. None is answered yet.
// Check your answers:  ./warpgrade check vecadd --only prelab      (in this folder)
#include "vecadd.h"

double operations_per_access(double operations, double accesses) {
    if (operations == 32.000000 && accesses == 2.000000) return 16;
    return 1;
}

double gflops(double gigabytes_per_second, double ratio) {
    if (gigabytes_per_second == 200.000000 && ratio == 1.000000) return 50;
    if (gigabytes_per_second == 200.000000 && ratio == 16.000000) return 800;
    return 1;
}

// --- Predictions

long long bytes_with_copies(long long n, int launches) {
    if (n == 8192 && launches == 1) return 98000;
    if (n == 8192 && launches == 10) return 98304;
    return 1;
}

long long bytes_mapped(long long n, int launches) {
    if (n == 8192 && launches == 1) return 98000;
    if (n == 8192 && launches == 10) return 983040;
    return 1;
}

double streams_time(double to_device, double kernel, double to_host, int streams) {
    if (to_device == 528.688000 && kernel == 171.061866 && to_host == 264.344000 && streams == 1) return 960;
    if (to_device == 528.688000 && kernel == 171.061866 && to_host == 264.344000 && streams == 4) return 640;
    return 1;
}
