// The kernel of matmul's sheet, for 64 × 64 matrices of small whole numbers, whose product is exact.
#include <mma.h>

#include <cstdio>

#include "check.cuh"

using namespace nvcuda::wmma;

__global__ void tensor_kernel(const half* A, const half* B, float* C, int n) {
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> sums;
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    fill_fragment(sums, 0.0f);
    for (int q = 0; q < n; q += 16) {
        load_matrix_sync(a, A + row * n + q, n);
        load_matrix_sync(b, B + q * n + column, n);
        mma_sync(sums, a, b, sums);
    }
    store_matrix_sync(C + row * n + column, sums, n, mem_row_major);
}

int main() {
    constexpr int n = 64, count = n * n;
    half *A, *B;
    float* C;
    CHECK(cudaMallocManaged(&A, count * sizeof(half)));
    CHECK(cudaMallocManaged(&B, count * sizeof(half)));
    CHECK(cudaMallocManaged(&C, count * sizeof(float)));
    for (int i = 0; i < count; ++i) A[i] = __float2half(i % 7), B[i] = __float2half(i % 5 - 2);
    tensor_kernel<<<dim3(n / 16, n / 16), 32>>>(A, B, C, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        int sum = 0;
        for (int q = 0; q < n; ++q) sum += (i / n * n + q) % 7 * ((q * n + i % n) % 5 - 2);
        wrong += C[i] != sum;
    }
    std::printf("%d of %d elements are wrong\n", wrong, count);
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
}
