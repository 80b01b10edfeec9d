// The contract of lab transpose: what your transpose.cu and prelab.cpp define and the tests call.
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

// As transpose_shared, with the tile laid out so that no access to it has a bank conflict. (Where blocks are less than
// 32 threads wide, so that a warp has several rows, one conflict for each request is allowed.)
void transpose_padded(const float* A, float* B, int rows, int columns);

// Prelab. Answered in prelab.cpp before there is a kernel, by ordinary host code.
//
// Of the first two, `byte` has 32 entries: lane i of a warp (its thread i) loads what begins at byte byte[i] ≥ 0 of an
// array: a float, at a multiple of 4, or a single byte.

// The array is in global memory, which is fetched in sectors of 32 bytes; the array begins with a sector, and the lanes
// load floats. How many different sectors does the warp touch?
int sectors(const int* byte);

// The array is in shared memory, from its first byte on. Word w, which is bytes 4 · w to 4 · w + 3, lies in bank w %
// 32, and a load takes as many wavefronts as there are different words in the busiest bank. How many are these?
int wavefronts(const int* byte);

// rows and columns are multiples of TILE_WIDTH, at least TILE_WIDTH, and a block has TILE_WIDTH × TILE_WIDTH threads.
// transpose_naive moves a matrix: how many sectors do its warps touch, all together, on the side with the stride?
int naive_sectors(int rows, int columns);
// A version with a tile stores rows into it and fetches columns, each with one request of a warp. The rows of its tile
// begin `pitch` ≥ TILE_WIDTH words apart. How many bank conflicts (wavefronts beyond the first of each request) do the
// fetches have, all together?
int tile_conflicts(int rows, int columns, int pitch);
