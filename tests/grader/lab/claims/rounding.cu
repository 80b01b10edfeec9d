// A product of 64 × 64 matrices on the device and in a plain loop on the host: in how many elements do they differ, and
// by how much? Lab matmul.
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.cuh"

constexpr int N = 64;

__global__ void product(const float* A, const float* B, float* C) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < N; ++k) sum += A[i * N + k] * B[k * N + j];
    C[i * N + j] = sum;
}

// The same numbers between -1 and 1 on every machine.
static std::vector<float> numbers(unsigned state) {
    std::vector<float> x(N * N);
    for (float& value : x) {
        state = 1664525u * state + 1013904223u;
        value = (state >> 8) / 8388608.0f - 1.0f;
    }
    return x;
}

int main() {
    const std::vector<float> A = numbers(1), B = numbers(2);
    std::vector<float> C(N * N);
    const size_t bytes = N * N * sizeof(float);
    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMalloc(&d_C, bytes));
    CHECK(cudaMemcpy(d_A, A.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B.data(), bytes, cudaMemcpyHostToDevice));
    product<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(d_A, d_B, d_C);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(C.data(), d_C, bytes, cudaMemcpyDeviceToHost));
    int differ = 0;
    double worst = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < N; ++k) {
                const volatile float term = A[i * N + k] * B[k * N + j];  // rounded on its own, whatever the compiler
                sum += term;
            }
            differ += sum != C[i * N + j];
            worst = std::fmax(worst, std::fabs(double(sum) - C[i * N + j]));
        }
    }
    std::printf("%d elements differ, by at most %.1e\n", differ, worst);
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}
