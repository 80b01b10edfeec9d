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
