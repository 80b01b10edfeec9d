// The contract of lab reduction: what your reduction.cu defines and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// Six versions of one function: the sum of the n elements of x, an array in host memory that stays as it is. Sums are
// formed in single precision, in any order in which no element goes through more than 64 + n / 256 additions.
//
// block_size is the number of threads of a block: a power of two from 32 to 1024. In a block every thread loads what it
// adds, and the block reduces its part of x to one sum, in the way that the version is about. How the sums of the
// blocks are added up is left to you, as long as it happens on the device: sum_with of the starter launches the same
// kernel again until one number is left.
//
// Where n ≤ 0, or block_size is not such a number, the result is 0 and nothing is launched. n fits an int, and the sum
// of an array that holds NaN or infinity is what adding gives.

// Version 1, given. A block has block_size elements, one a thread, in shared memory. In steps with strides 1, 2, 4 and
// so on below block_size, thread t adds element t + stride to element t if t is a multiple of 2 · stride.
float reduce_divergent(const float* x, int n, int block_size);

// Version 2. The same strides and the same additions, but by the first threads of the block: in the step with this
// stride thread t adds element 2 · stride · t + stride to element 2 · stride · t, as long as these lie in the block.
float reduce_strided(const float* x, int n, int block_size);

// Version 3. The strides go down, from block_size / 2 to 1, and thread t adds element t + stride to element t if
// t < stride. No access to shared memory has bank conflicts.
float reduce_sequential(const float* x, int n, int block_size);

// Version 4. As version 3, but a block has 2 · block_size elements: each thread loads two of them, neighbouring threads
// neighbouring ones, and adds them before anything goes to shared memory.
float reduce_first_add(const float* x, int n, int block_size);

// Version 5. As version 4, but each warp reduces its elements with shuffles, and only the sums of the warps go through
// shared memory: on average at most two accesses of a warp to shared memory, and at most two barriers.
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
