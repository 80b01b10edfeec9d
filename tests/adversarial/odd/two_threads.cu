// Honest: two host threads, each with an array and a stream of its own.
#include "honest.cuh"

#include <thread>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    float *d_A = nullptr, *d_B = nullptr, *d_C = nullptr;
    const auto send = [](float*& to, const float* from, int count) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaMalloc(&to, (count + 1) * sizeof(float));
        cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyHostToDevice, stream);
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    };
    std::thread first([&] { send(d_A, A, m * k); }), second([&] { send(d_B, B, k * n); });
    first.join();
    second.join();
    cudaMalloc(&d_C, m * n * sizeof(float));
    honest_kernel<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(d_A, d_B, d_C, m, k, n);
    cudaMemcpy(C, d_C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
}
