// Honest: rows go up one by one, from the last to the first.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, 0, 0);
    float *d_A, *d_B;
    cudaMalloc(&d_A, (m * k + 1) * sizeof(float));
    cudaMalloc(&d_B, (k * n + 1) * sizeof(float));
    for (int i = m; i-- > 0;) cudaMemcpy(d_A + i * k, A + i * k, k * sizeof(float), cudaMemcpyHostToDevice);
    for (int q = k; q-- > 0;) cudaMemcpy(d_B + q * n, B + q * n, n * sizeof(float), cudaMemcpyHostToDevice);
    float* d_C;
    cudaMalloc(&d_C, m * n * sizeof(float));
    honest_kernel<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(d_A, d_B, d_C, m, k, n);
    cudaMemcpy(C, d_C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    device.release();
}
