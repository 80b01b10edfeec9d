// WRONG: loses "transpose_naive transposes whole tiles", "transpose_shared transposes whole tiles", "transpose_padded transposes whole tiles", "transpose_naive pays for one strided side", "transpose_shared reads and writes whole sectors", "transpose_padded has no bank conflicts", "transpose_padded: speed on a 512 × 512 matrix", "all versions transpose long and flat matrices", "all versions move every bit pattern unchanged", "matrices without elements launch nothing", "stretch: all versions transpose sizes that are not multiples of the tile" - loops on the CPU: right for every size, but no kernel is launched
#include "transpose.h"

static void transpose(const float* A, float* B, int rows, int columns) {
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) B[column * rows + row] = A[row * columns + column];
    }
}

void transpose_naive(const float* A, float* B, int rows, int columns) { transpose(A, B, rows, columns); }
void transpose_shared(const float* A, float* B, int rows, int columns) { transpose(A, B, rows, columns); }
void transpose_padded(const float* A, float* B, int rows, int columns) { transpose(A, B, rows, columns); }
