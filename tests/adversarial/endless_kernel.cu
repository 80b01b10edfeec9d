// Is right, and leaves a kernel behind that never ends.
#include "honest.cuh"

__global__ void for_ever(volatile int* flag) {
    while (*flag == 0) {
    }
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    honest(A, B, C, m, k, n);
    int* flag;
    Stream side;
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    for_ever<<<1, 32, 0, side>>>(flag);
}
