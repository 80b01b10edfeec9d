// WRONG: loses "matmul_rows multiplies", "matmul_columns multiplies", "matmul_one_block multiplies", "matmul_tiled multiplies square matrices", "matmul_tiled multiplies rectangular matrices", "matmul_registers multiplies", "matmul_rows loads a column of A with every term", "matmul_columns loads neighbours", "matmul_one_block loads each element once", "matmul_tiled: global loads fall by the tile width", "matmul_tiled: tiles have no bank conflicts", "matmul_tiled: each element of C is stored once", "stretch: matmul_registers uses each load from shared memory four times", "every version multiplies long and flat matrices", "whole numbers come out exactly", "badly scaled values keep their precision", "NaN and infinity stay in their row and column", "empty sums are zero and empty matrices launch nothing", "matmul_columns takes every size", "matmul_one_block takes every size up to its limit, and none beyond", "stretch: matmul_tiled takes sizes that are not multiples of the tile", "stretch: matmul_registers takes sizes that are not multiples of the tile", "matmul_tiled: speed on 256 × 256 matrices", "stretch: speed of matmul_registers on 256 × 256 matrices" - loops on the CPU: right for every size, but no kernel is launched
#include "matmul.h"

static void multiply(const float* A, const float* B, float* C, int m, int k, int n) {
    for (int row = 0; row < m; ++row) {
        for (int column = 0; column < n; ++column) {
            float sum = 0.0f;
            for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + column];
            C[row * n + column] = sum;
        }
    }
}

void matmul_rows(const float* A, const float* B, float* C, int m, int k, int n) {
    multiply(A, B, C, m, k, n);
}

void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) {
    multiply(A, B, C, m, k, n);
}

void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m > ONE_BLOCK_LIMIT || k > ONE_BLOCK_LIMIT || n > ONE_BLOCK_LIMIT) return;
    multiply(A, B, C, m, k, n);
}

void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    multiply(A, B, C, m, k, n);
}

void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    multiply(A, B, C, m, k, n);
}
