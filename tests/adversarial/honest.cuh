// What the attacks on lab matmul share. The test puts this text in the place of its #include: one file is handed in.
#include <cuda_runtime.h>
#include <unistd.h>

#include "matmul.h"

using Stream = cudaStream_t;

__global__ void honest_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int q = 0; q < k; ++q) sum += A[row * k + q] * B[q * n + column];
    C[row * n + column] = sum;
}

struct OnDevice {
    float *A = nullptr, *B = nullptr, *C = nullptr;

    OnDevice(const float* a, const float* b, int m, int k, int n) {
        cudaMalloc(&A, (m * k + 1) * sizeof(float));
        cudaMalloc(&B, (k * n + 1) * sizeof(float));
        cudaMalloc(&C, m * n * sizeof(float));
        cudaMemcpy(A, a, m * k * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(B, b, k * n * sizeof(float), cudaMemcpyHostToDevice);
    }
    void launch(int m, int k, int n, Stream stream = nullptr) const {
        honest_kernel<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, m, k, n);
    }
    void release() const {
        cudaFree(A);
        cudaFree(B);
        cudaFree(C);
    }
};

// The product as a beginner writes it, by the device: what the unmodified starter is worth, and no more.
static inline void honest(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, k, n);
    device.launch(m, k, n);
    cudaMemcpy(C, device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    device.release();
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n);

void matmul_rows(const float* A, const float* B, float* C, int m, int k, int n) { attack(A, B, C, m, k, n); }
void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) { attack(A, B, C, m, k, n); }
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) { attack(A, B, C, m, k, n); }
void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) { attack(A, B, C, m, k, n); }
void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= ONE_BLOCK_LIMIT && k <= ONE_BLOCK_LIMIT && n <= ONE_BLOCK_LIMIT) attack(A, B, C, m, k, n);
}
