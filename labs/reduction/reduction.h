// The contract of lab reduction: what your prelab.cpp and your reduction.cu define and the tests call.
#pragma once

// --- Prelab: plain host code without a kernel, in prelab.cpp
//
// What the versions below cost. Powers of two are positive here, and all results fit an int.

// Exercise 17 of the textbook. A block of `threads` threads goes through a loop, in warps of `warp` threads (both are
// powers of two, warp ≤ threads). A warp diverges at an `if` when some of its threads take it and some do not. How
// often does that happen, over all warps and all turns of the loop? t is the thread's number.
//   for (int step = 1; step < threads; step *= 2)         if (t % (2 * step) == 0) …
int divergent_interleaved(int threads, int warp);
//   for (int step = threads / 2; step >= 1; step /= 2)    if (t < step) …
int divergent_halving(int threads, int warp);

// The sum of n ≥ 1 elements: a launch whose blocks take `per_block` elements each, a multiple of 32, and leave one sum
// each; these sums are the elements of the next launch, until a launch leaves a single number. How many launches is
// that? (One element takes one.)
int launches_of_sum(int n, int per_block);
// And how many sectors do all of these launches load from global memory? A sector is 32 bytes and an element 4; each
// array begins with a sector, and a launch loads each of its elements once.
int sectors_of_sum(int n, int per_block);

// One full block of block_size threads of version 1, 3 or 5 (block_size is a power of two from 32 to 1024). How many
// barriers does each of its threads pass? Version 5 needs its barrier whatever block_size is.
int barriers_of_block(int version, int block_size);
// How many requests store to shared memory? A request is one instruction of one warp, however many of its threads take
// part. Count the elements that are stored first, and one store for each addition of two elements in shared memory.
int stores_of_block(int version, int block_size);

// --- The lab, in reduction.cu
//
// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// Six versions of one function: the sum of the n elements of x, an array in host memory that stays as it is. Sums are
// formed in single precision, in any order in which no element goes through more than 64 + n / 256 additions.
//
// block_size is the number of threads of a block: a power of two from 32 to 1024. In a block every thread loads what it
// adds, and the block reduces its part of x to one sum, in the way that the version is about. How the sums of the
// blocks are added up is left to you, as long as it happens on the device: sum_with of the starter launches the same
// kernel again until one number is left; atomicAdd, another kernel, and the last block that finishes are fine as well.
//
// Where n ≤ 0, or block_size is not such a number, the result is 0 and nothing is launched. n fits an int, and the sum
// of an array that holds NaN or infinity is what adding gives.

// Version 1, given. A block has block_size elements, one a thread, in shared memory, and reduces them by a tree: in
// steps with strides 1, 2, 4 and so on below block_size, each element at a multiple of 2 · stride gets the element
// `stride` places behind it added, by the thread of the same number.
float reduce_divergent(const float* x, int n, int block_size);

// Version 2. The same steps and the same additions, but by the first threads of the block: in no step is there an idle
// thread before one that adds. The block is reduced in shared memory, and has at most 8 divergent branches.
float reduce_strided(const float* x, int n, int block_size);

// Version 3. A tree with other pairs: the strides go down, from block_size / 2 to 1. Again the first threads of the
// block add, and now no access to shared memory has bank conflicts. The block is reduced in shared memory, and has at
// most 16 divergent branches.
float reduce_sequential(const float* x, int n, int block_size);

// Version 4. As version 3, but a block has 2 · block_size elements: each thread loads two of them and adds them before
// anything goes to shared memory. The threads of a warp load elements side by side, each sector once.
float reduce_first_add(const float* x, int n, int block_size);

// Version 5. As version 4, but each warp reduces its elements with shuffles, and only the sums of the warps go through
// shared memory: on average at most three accesses of a warp to shared memory, and at most five barriers. A block takes
// at most two atomics on global memory.
float reduce_shuffle(const float* x, int n, int block_size);

// Version 6. However large n is, there are never more blocks than the device can hold at once: a thread walks through
// the array in strides of the whole grid, and loads four floats at a time with one access (the last n % 4 floats one by
// one). The sum of a block is formed as in version 5.
float reduce_grid_stride(const float* x, int n, int block_size);

// A step of versions 1 to 3 in numbers. Take one block of block_size threads (a power of two from 32 to 1024) that is
// cut into warps of warp_size threads (a power of two from 2 to 32; a real warp has 32). In the step with this stride
// (a power of two from 1 to block_size / 2) a thread adds or it does not, by the rule of the version. The result is the
// number of warps that are divergent: some of their threads add and some do not.
//
// It is computed by one kernel launch, with one block of block_size threads that apply the rule, each to itself. They
// tell each other by votes: no thread loads anything from shared or global memory.
//
// Where version is not 1, 2 or 3, or another number is not as above, the result is 0 and nothing is launched.
int divergent_warps(int version, int block_size, int warp_size, int stride);
