// Prints from all threads for as long as it may.
#include "honest.cuh"

#include <cstdio>

__global__ void say(int n) {
    for (int i = 0; i < 1000; ++i)
        printf("thread %d of block %d: %s %f\n", threadIdx.x, blockIdx.x, "nothing", 1.5 * n);
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m > 0 && n > 0 && k >= 0) say<<<40, 256>>>(n);
    honest(A, B, C, m, k, n);
}
