// The contract of lab matmul: what your matmul.cu defines and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// Width and height of a tile in elements.
constexpr int TILE_WIDTH = 16;

// The most that matmul_one_block takes of m, k and n: a block has at most 1024 = 32 × 32 threads.
constexpr int ONE_BLOCK_LIMIT = 32;

// Width and height of the part of C that one thread of matmul_registers computes, at least.
constexpr int REGISTER_TILE = 4;

// Five versions of one function, C = A · B.
//
// A is m × k, B is k × n and C is m × n; all three are dense, row-major, in host memory, and do not overlap:
// element (row, column) of A is A[row * k + column]. A and B stay as they are, and every element of C is written,
// whatever it held before.
//
// Element (i, j) of C is the sum over q of A(i, q) · B(q, j) in single precision. The terms may be added in any order,
// with or without fused multiply-add, so that two right solutions may differ in the last bits. Each version forms the
// sums on the device, and launches one kernel.
//
// Sizes are counted in elements, and each of m·k, k·n and m·n fits an int.
//   Required:  m, k and n are multiples of TILE_WIDTH; they need not be equal.
//   Any m, k, n ≥ 1: matmul_rows and matmul_columns always, matmul_one_block up to its limit, matmul_tiled and
//              matmul_registers as stretch goals.
//   k = 0:     an empty sum; every element of C becomes 0.
//   m ≤ 0, n ≤ 0 or k < 0: C has no elements, or the sizes make no sense. Nothing is launched, and C is not touched.

// Given. One thread for each element of C, which loads all of its operands from global memory. threadIdx.x chooses the
// row of the element, threadIdx.y the column.
void matmul_rows(const float* A, const float* B, float* C, int m, int k, int n);

// The same with the indices exchanged: threadIdx.x chooses the column, threadIdx.y the row.
void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n);

// One block of at most 1024 threads, for matrices with m, k, n ≤ ONE_BLOCK_LIMIT. The block copies all of A and B into
// shared memory, each element once, and takes all operands from there. Where m, k or n is beyond the limit, nothing is
// launched, and C is not touched.
void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n);

// A block computes a tile of C, at least TILE_WIDTH × TILE_WIDTH elements. It walks along a row of tiles of A and a
// column of tiles of B, and copies each pair into shared memory, where all of its threads use it. Neighbouring threads
// load and store neighbouring elements; there is at most one bank conflict in eight accesses to shared memory; each
// element of C is stored once.
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n);

// Stretch. As matmul_tiled, but each thread computes at least REGISTER_TILE × REGISTER_TILE elements of the block's
// tile. What it loads from shared memory it keeps in registers and uses REGISTER_TILE times, so that it needs at most
// one load from shared memory for two multiplications. What is said above of loads, conflicts and stores holds here,
// too.
void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n);
