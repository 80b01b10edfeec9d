// Copies and kernel in streams of their own, with no order between them: all at the same time, by the model's clock.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const std::size_t a = (m * k + 1) * sizeof(float), b = (k * n + 1) * sizeof(float), c = m * n * sizeof(float);
    float *pinned, *device;
    cudaHostAlloc(&pinned, a + b + c, cudaHostAllocDefault);
    cudaMalloc(&device, a + b + c + 512);
    float *const dA = device, *const dB = dA + m * k + 1, *const dC = dB + k * n + 1;
    float *const hA = pinned, *const hB = hA + m * k + 1, *const hC = hB + k * n + 1;
    for (int i = 0; i < m * k; ++i) hA[i] = A[i];
    for (int i = 0; i < k * n; ++i) hB[i] = B[i];
    Stream streams[4];
    for (Stream& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemcpyAsync(dA, hA, a, cudaMemcpyHostToDevice, streams[0]);
    cudaMemcpyAsync(dB, hB, b, cudaMemcpyHostToDevice, streams[1]);
    honest_kernel<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16), 0, streams[2]>>>(dA, dB, dC, m, k, n);
    cudaMemcpyAsync(hC, dC, c, cudaMemcpyDeviceToHost, streams[3]);
    cudaDeviceSynchronize();
    for (int i = 0; i < m * n; ++i) C[i] = hC[i];
    for (Stream stream : streams) cudaStreamDestroy(stream);
    cudaFree(device);
    cudaFreeHost(pinned);
}
