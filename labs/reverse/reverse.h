// The contract of lab reverse: what your reverse.cu and prelab.cpp define and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// The most elements that static_reverse takes: the size of its array in shared memory, fixed when you compile.
constexpr int STATIC_CAPACITY = 64;

// The most elements that the dynamic ones take: the largest block of threads that CUDA launches.
constexpr int BLOCK_CAPACITY = 1024;

// The elements of a row in rows_strided and rows_padded, and the most rows that they take.
constexpr int ROW_WIDTH = 32;
constexpr int ROWS_CAPACITY = 128;

// 1. One array, and four ways to size the shared memory.
//
// Each of these four functions reverses the n elements of d in place: what was d[i] before is d[n - 1 - i] after. d is
// an array in host memory. n counts elements, need not be even, and may be 1.
//
// Each function copies d to the device once, launches one kernel with one block, and copies d back. In that kernel one
// thread moves one element: it loads d[t] from global memory, stores it into shared memory, waits once for the block,
// and stores the element that belongs at d[t]. Global memory is read and written along t; only shared memory is read
// backwards.
//
// Where n ≤ 0, or n is beyond the function's capacity, nothing is launched and d stays as it is.

// The array in shared memory has STATIC_CAPACITY elements, declared in the kernel; no dynamic shared memory.
// n ≤ STATIC_CAPACITY.
void static_reverse(int* d, int n);

// Dynamic shared memory of exactly n elements, and no static. The block has exactly n threads, so that the kernel knows
// the size from its launch and needs no further argument than the array. n ≤ BLOCK_CAPACITY.
void dynamic_reverse(int* d, int n);

// As dynamic_reverse, but the block has whole warps, n rounded up to a multiple of 32, so that the kernel has to be
// told the size: by an argument. n ≤ BLOCK_CAPACITY.
void dynamic_reverse_n(int* d, int n);

// As dynamic_reverse_n, but the kernel finds the size in a __device__ variable, which the host sets before the launch.
// n ≤ BLOCK_CAPACITY.
void dynamic_reverse_symbol(int* d, int n);

// 2. Three arrays in one dynamic allocation.
//
// Reverses each of three arrays in place, as above: a of a_n bytes, b of b_n ints and c of c_n doubles. Each length is
// counted in elements, from 0 to BLOCK_CAPACITY, and they may all differ; an array of length 0 has nothing to reverse.
//
// One kernel with one block moves all three, and waits once. Each element goes through an array of its own type in
// dynamic shared memory, and all three arrays lie in the one allocation of the block, which has a_n + 4 · b_n + 8 · c_n
// bytes, and at most 15 more for alignment: the address of an int is a multiple of 4, that of a double a multiple of 8.
// No static shared memory.
//
// Where a length is negative or beyond BLOCK_CAPACITY, or all of them are 0, nothing is launched and all three arrays
// stay as they are.
void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n);

// 3. Strides in shared memory.
//
// Both functions reverse each row of d in place: what was d[r * ROW_WIDTH + j] before is
// d[r * ROW_WIDTH + ROW_WIDTH - 1 - j] after. d has `rows` rows of ROW_WIDTH ints each and is an array in host memory.
// One kernel with one block copies all rows to shared memory along global memory, lets each thread reverse a row there,
// and copies them back.
//
// Where rows ≤ 0 or rows > ROWS_CAPACITY, nothing is launched and d stays as it is.

// Given. Each row begins right behind the one before, so that the words of neighbouring threads lie ROW_WIDTH apart.
void rows_strided(int* d, int rows);

// As rows_strided, but the rows lie in shared memory in such a way that no access has bank conflicts.
void rows_padded(int* d, int rows);

// Prelab. Answered in prelab.cpp before there is a kernel, by ordinary host code. No argument is negative, and all
// results fit an int.

// A kernel keeps three arrays of float in one piece of dynamic shared memory, without gaps: A (k elements), then B (l),
// then C (m). How many bytes does the launch ask for, and at which byte does C begin?
int shared_bytes(int k, int l, int m);
int offset_of_third(int k, int l);
// Arrays of different types: the first `bytes_before` bytes are taken. At which byte, the first possible one, can an
// array begin whose elements must lie at multiples of `alignment` bytes (a power of two)?
int aligned_offset(int bytes_before, int alignment);

// A warp loads from an array in shared memory: lane i (its thread i) the element number i · stride. Elements have 4
// bytes, or 8 if stride ≥ 1. With 4 bytes the load takes as many wavefronts as there are different words in the busiest
// bank. With 8 bytes, two words each, the warp is served in two halves, lanes 0 to 15 and then 16 to 31, and the
// wavefronts of both halves add up. How many are these?
int wavefronts(int stride, int bytes);

// dynamic_reverse_n reverses n ≥ 1 elements. How often do warps execute its barrier, and how many requests to shared
// memory do they make, loads and stores? Each warp that executes such an instruction counts once.
int reverse_barriers(int n);
int reverse_requests(int n);

// A version of rows_strided lets rows begin `pitch` ≥ ROW_WIDTH words apart in shared memory. `rows` is a multiple of
// 32. Each turn of its loop swaps two elements of a row, by two loads and two stores. How many bank conflicts
// (wavefronts beyond the first of each request) does the reversal have, all together?
int rows_conflicts(int rows, int pitch);
