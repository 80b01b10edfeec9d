// A product with tiles of 16 × 16, and the same with the next pair of tiles loaded early: lab matmul.
#include <vector>

#include "check.cuh"

constexpr int N = 256, W = 16;

__global__ void tiled(const float* A, const float* B, float* C) {
    __shared__ float a_tile[W][W], b_tile[W][W];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * W + x, row = blockIdx.y * W + y;
    float sum = 0.0f;
    for (int first = 0; first < N; first += W) {
        a_tile[y][x] = A[row * N + first + x];
        b_tile[y][x] = B[(first + y) * N + column];
        __syncthreads();
        for (int q = 0; q < W; ++q) sum += a_tile[y][q] * b_tile[q][x];
        __syncthreads();
    }
    C[row * N + column] = sum;
}

__global__ void prefetched(const float* A, const float* B, float* C) {
    __shared__ float a_tile[2][W][W], b_tile[2][W][W];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * W + x, row = blockIdx.y * W + y;
    float sum = 0.0f, next_a = A[row * N + x], next_b = B[y * N + column];
    for (int first = 0, now = 0; first < N; first += W, now = 1 - now) {
        a_tile[now][y][x] = next_a;
        b_tile[now][y][x] = next_b;
        __syncthreads();
        if (first + W < N) {
            next_a = A[row * N + first + W + x];
            next_b = B[(first + W + y) * N + column];
        }
        for (int q = 0; q < W; ++q) sum += a_tile[now][y][q] * b_tile[now][q][x];
    }
    C[row * N + column] = sum;
}

int main() {
    const std::vector<float> ones(N * N, 1.0f);
    const size_t bytes = N * N * sizeof(float);
    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMalloc(&d_C, bytes));
    CHECK(cudaMemcpy(d_A, ones.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, ones.data(), bytes, cudaMemcpyHostToDevice));
    tiled<<<dim3(N / W, N / W), dim3(W, W)>>>(d_A, d_B, d_C);
    CHECK(cudaGetLastError());
    prefetched<<<dim3(N / W, N / W), dim3(W, W)>>>(d_A, d_B, d_C);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}
