// Makes records of launches for as long as it may.
#include "honest.cuh"

__global__ void nothing() {}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    for (int i = 0; i < 200'000; ++i) nothing<<<1, 32>>>();
    honest(A, B, C, m, k, n);
}
