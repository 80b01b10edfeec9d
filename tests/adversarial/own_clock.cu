// Brings clocks that stand still, and the CUDA functions that read the device's.
#include "honest.cuh"

#include <sys/time.h>
#include <time.h>

extern "C" {
int clock_gettime(clockid_t, timespec* now) noexcept {
    *now = {};
    return 0;
}
clock_t clock() noexcept { return 0; }
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) { honest(A, B, C, m, k, n); }
