// Honest: device memory stays from call to call and grows when it has to, with the arrays registered meanwhile.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    static float* d[3];
    static int room[3];
    const int wanted[3] = {m * k + 1, k * n + 1, m * n};
    for (int i = 0; i < 3; ++i)
        if (wanted[i] > room[i]) {
            cudaFree(d[i]);
            cudaMalloc(&d[i], wanted[i] * sizeof(float));
            room[i] = wanted[i];
        }
    if (k > 0) cudaHostRegister(const_cast<float*>(A), m * k * sizeof(float), cudaHostRegisterDefault);
    cudaMemcpyAsync(d[0], A, m * k * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyAsync(d[1], B, k * n * sizeof(float), cudaMemcpyHostToDevice);
    honest_kernel<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(d[0], d[1], d[2], m, k, n);
    cudaMemcpy(C, d[2], m * n * sizeof(float), cudaMemcpyDeviceToHost);
    if (k > 0) cudaHostUnregister(const_cast<float*>(A));
}
