// Honest: a launch for each row, with another argument each time.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, k, n);
    for (int row = 0; row < m; ++row)
        honest_kernel<<<dim3(1, (n + 15) / 16), dim3(16, 16)>>>(device.A + row * k, device.B, device.C + row * n, 1, k,
                                                                n);
    cudaMemcpy(C, device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    device.release();
}
