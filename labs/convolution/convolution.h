// The contract of lab convolution: what your convolution.cu defines and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// The widest mask, in elements. Masks are at most this wide, and in two dimensions also at most this high.
constexpr int MAX_MASK_WIDTH = 15;

// Convolution of an array N with a mask M: each element of the output P is a weighted sum of the element of N at the
// same place and of its neighbours, with the mask's elements as weights. The mask's width w is odd, and its middle
// element, of index r = w / 2, lies on the element that is computed. What lies outside of N is a ghost element: zero.
//
//   1D:  P[j] = sum over i from 0 to w-1 of N[j - r + i] · M[i]
//   2D:  P(y, x) = sum over v, u from 0 to w-1 of N(y - r + v, x - r + u) · M(v, u)
//
// The mask is not reversed: M[0] weighs the leftmost neighbour. (Mathematicians call this a correlation.)
//
// Sums are in single precision. The terms may be added in any order, with or without fused multiply-add, so that two
// right solutions may differ in the last bits; an element of N that the mask does not reach has no influence.
//
// All arrays are dense and in host memory, and do not overlap. N and M stay as they are; every element of P is written,
// whatever it held before. M may change from call to call. Sizes are counted in elements, and every size from 1 up is
// allowed, also one that is smaller than the mask; in two dimensions height · width fits an int.
//
// Where n ≤ 0, height ≤ 0 or width ≤ 0, or mask_width is even, below 1 or above MAX_MASK_WIDTH, nothing is launched and
// P is not touched.

// Given. N and P have n elements, M has mask_width. One thread for each element of P; every operand comes from global
// memory.
void conv1d_naive(const float* N, const float* M, float* P, int n, int mask_width);

// The same with the mask in constant memory; N still comes from global memory, and there is no shared memory.
void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width);

// The same with the mask in constant memory, and what a block needs of N in its shared memory: the elements of its own
// threads and r more on both sides, each loaded from global memory once for the whole block.
void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width);

// Two dimensions: N and P are height × width, M is mask_width × mask_width, all row-major: N(y, x) is N[y * width + x].
// The mask is in constant memory, and what a block needs of N in its shared memory, as in conv1d_tiled.
void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width);

// The same result as conv2d_tiled, with less work for each product: a thread computes several elements of P, such as
// four, one below the other, and uses each element and each weight that it loads for several of its sums.
void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width);

// --- Prelab ---------------------------------------------------------------------------------------------------------

// Questions to answer before you write a kernel, in prelab.cpp, in plain C++. Exercises are those of a textbook, Topics
// in Parallel and Distributed Computing, chapter 8.

// Exercise 11. How many bytes does cudaMemcpyToSymbol copy for a table of `bins` floats, and how many bins has the
// largest table that fits the 64 KiB of constant memory?
int constant_bytes(int bins);
int largest_constant_table();

// Exercise 18. The convolution as above, on whole numbers, on the host: p[j], for 0 ≤ j < width, is the sum of
// n[j + i - mask_width / 2] · mask[i] over the mask_width elements of the mask, an odd number that may be larger than
// `width`. n and p have `width` ≥ 1 elements.
void convolve(const int* n, int width, const int* mask, int mask_width, int* p);

// Predictions: how many requests to load from global memory does each version make in all, for n elements, a mask of
// mask_width elements, and blocks of `block` threads, one thread for each element? A request is one load instruction of
// one warp, in which at least one thread takes part. n is a multiple of `block`, `block` a multiple of 32, and
// mask_width odd and at most MAX_MASK_WIDTH.
int naive_requests(int n, int block, int mask_width);
int constant_requests(int n, int block, int mask_width);
// conv1d_tiled, where the block walks over its tile of block + mask_width - 1 elements in steps of `block`. (Threads
// with ghosts do not load, but others of their warp do.)
int tiled_requests(int n, int block, int mask_width);
// The chapter's own listing 8.16: the block's own elements are loaded into shared memory, one for each thread; for each
// product, a thread looks whether it finds the element there, and loads it from global memory otherwise.
int cached_requests(int n, int block, int mask_width);
// conv2d_registers with `rows` ≥ 1 elements for each thread, one below the other: how many elements does a thread take
// from the tile, for each product that it adds up? The weights are not counted.
double loads_per_product(int rows, int mask_width);
