// The contract of lab transpose: what your transpose.cu defines and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// Width and height of a tile in elements: as many as a warp has threads. Every required size is a multiple of it.
constexpr int TILE_WIDTH = 32;

// B = Aᵀ, in three versions with the same parameters and the same result.
//
// A has `rows` rows and `columns` columns, B has `columns` rows and `rows` columns. Both are dense, row-major, in host
// memory, and do not overlap. B(j, i) = A(i, j), that is
//     B[j * rows + i] = A[i * columns + j]   for 0 ≤ i < rows, 0 ≤ j < columns.
// Elements are moved, not computed with: each arrives bit by bit as it was, NaNs and negative zeros too. A stays as it
// is, and every element of B is written, whatever it held before.
//
// Sizes are counted in elements; neither is above 2^20, and rows · columns fits an int.
//   Required:  rows and columns are multiples of TILE_WIDTH; they need not be equal.
//   Stretch:   any rows, columns ≥ 1.
//   rows ≤ 0 or columns ≤ 0: there are no elements. Nothing is launched, and B is not touched.
//
// Each version launches one kernel.

// Each thread moves its element from global memory to global memory, without shared memory. Neighbouring threads touch
// neighbouring elements of one of the matrices. The starter has it.
void transpose_naive(const float* A, float* B, int rows, int columns);

// Through a tile in shared memory: neighbouring threads touch neighbouring elements of A and of B.
void transpose_shared(const float* A, float* B, int rows, int columns);

// As transpose_shared, with the tile laid out so that no access to it has a bank conflict.
void transpose_padded(const float* A, float* B, int rows, int columns);
