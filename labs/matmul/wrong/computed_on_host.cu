// WRONG: loses "multiplies square matrices", "multiplies rectangular matrices", "global loads fall by the tile width", "tiles in shared memory have no bank conflicts", "each element of C is stored once", "multiplies long and flat matrices", "whole numbers come out exactly", "badly scaled values keep their precision", "NaN and infinity stay in their row and column", "empty sums are zero and empty matrices launch nothing", "stretch: sizes that are not multiples of the tile", "speed on 256 × 256 matrices" - a loop on the CPU: right for every size, but no kernel is launched
#include "matmul.h"

void matmul(const float* A, const float* B, float* C, int m, int k, int n) {
    for (int row = 0; row < m; ++row) {
        for (int column = 0; column < n; ++column) {
            float sum = 0.0f;
            for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + column];
            C[row * n + column] = sum;
        }
    }
}
