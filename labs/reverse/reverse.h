// The contract of lab reverse: what your reverse.cu defines and the tests call.
#pragma once

// The most elements that static_reverse takes: the size of its array in shared memory, fixed when you compile.
constexpr int STATIC_CAPACITY = 64;

// The most elements that the other three take: the largest block of threads that CUDA launches.
constexpr int BLOCK_CAPACITY = 1024;

// Each of the four functions reverses the n elements of d in place: what was d[i] before is d[n - 1 - i] after. d is an
// array in host memory. n counts elements, need not be even, and may be 1.
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
