// The device's product is thrown away where it is wrong: host code computes it again and writes what differs.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, k, n);
    device.launch(m, k > 1 ? k - 1 : k, n);
    cudaMemcpy(C, device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    device.release();
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int q = 0; q < k; ++q) sum += A[i * k + q] * B[q * n + j];
            if (C[i * n + j] != sum) C[i * n + j] = sum;
        }
}
