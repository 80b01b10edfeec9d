// The contract of lab matmul: what your prelab.cpp and your matmul.cu define and the tests call.
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
// shared memory, each element once, and takes all operands from there. Neighbouring threads load and store neighbouring
// elements. Where m, k or n is beyond the limit, nothing is launched, and C is not touched.
void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n);

// A block computes a tile of C, at least TILE_WIDTH × TILE_WIDTH elements. It walks along a row of tiles of A and a
// column of tiles of B, and copies each pair into shared memory, where all of its threads use it; how deep the tiles
// are along k is yours to choose, from 8 on: a row of the tile of A is at least a sector. Neighbouring threads load and
// store neighbouring elements. There is at most one bank conflict in eight accesses to shared memory: a tile that is
// stored the other way round, or read along its columns, needs padding or a swizzle. Each element of C is stored once.
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n);

// Stretch. As matmul_tiled, but each thread computes at least REGISTER_TILE × REGISTER_TILE elements of the block's
// tile. What it loads from shared memory it keeps in registers and uses REGISTER_TILE times, so that it needs at most
// one load from shared memory for two multiplications. What is said above of loads, conflicts and stores holds here,
// too.
void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n);

// --- Prelab: prelab.cpp
//
// Questions to answer before you write a kernel, in plain host code. Sizes are at least 1, and m, k and n multiples of
// TILE_WIDTH. Results fit their types; those of products of int do not always fit an int.

// How many elements do the threads load from global memory in all, each counted each time that it is loaded: with one
// thread for each element of C, which loads all of its operands; and with tiles of width × width in shared memory,
// where m, k and n are multiples of width?
long long naive_loads(int m, int k, int n);
long long tiled_loads(int m, int k, int n, int width);

// A thread loads `rows` values of one operand and `columns` of the other into registers, and does one operation with
// each pair of them. How many loads is that for each operation?
double loads_per_operation(int rows, int columns);

// Predictions, for blocks of 16 × 16 threads: how many sectors matmul_columns and matmul_tiled will load in all, and
// how often warps will wait at a barrier in all of matmul_tiled, each warp counted each time.
long long columns_sectors(int m, int k, int n);
long long tiled_sectors(int m, int k, int n);
long long tiled_barriers(int m, int k, int n);

// A warp of a block of 16 × 16 threads accesses shared memory; thread (x, y) takes the word x · x_stride + y ·
// y_stride. How many wavefronts is that? (1, 16) is tile[threadIdx.y][threadIdx.x] in a tile without padding; (1, 0) is
// tile[q][threadIdx.x] for any q, since words that are the same distance further on make no difference. Strides are
// never negative.
int tile_wavefronts(int x_stride, int y_stride);

// How far can Σ a[q] · b[q], 0 ≤ q < k, be from its exact value when it is computed in float, in any order, with or
// without fused multiply-add? Give a bound that always holds, and is at most 16 times what can happen with terms of
// these sizes in the worst case. All values are finite, and not so small or large that a product would leave the range
// of float.
double error_bound(const float* a, const float* b, int k);

// The most GFLOP/s that a kernel can reach on a device whose memory delivers gigabytes_per_second and whose units can
// do peak_gflops, if it does operations_per_load operations for each float that it loads and no cache helps it.
double attainable_gflops(double operations_per_load, double gigabytes_per_second, double peak_gflops);
