// Returns at once; a thread of the host computes meanwhile, and writes when the call is over.
#include "honest.cuh"

#include <thread>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    honest_kernel<<<1, 32>>>(nullptr, nullptr, nullptr, 0, 0, 0);
    cudaDeviceSynchronize();
    std::thread([=] {
        usleep(20'000);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                float sum = 0;
                for (int q = 0; q < k; ++q) sum += A[i * k + q] * B[q * n + j];
                C[i * n + j] = sum;
            }
    }).detach();
}
