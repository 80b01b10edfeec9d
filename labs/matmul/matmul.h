// The contract of lab matmul: what your matmul.cu defines and the tests call.
#pragma once

// Width and height of a tile in elements. Every required size is a multiple of it.
constexpr int TILE_WIDTH = 16;

// C = A · B.
//
// A is m × k, B is k × n and C is m × n; all three are dense, row-major, in host memory, and do not overlap:
// element (row, column) of A is A[row * k + column]. A and B stay as they are, and every element of C is written,
// whatever it held before.
//
// Element (i, j) of C is the sum over q of A(i, q) · B(q, j) in single precision. The terms may be added in any order,
// with or without fused multiply-add, so that two right solutions may differ in the last bits.
//
// Sizes are counted in elements, and each of m·k, k·n and m·n fits an int.
//   Required:  m, k and n are multiples of TILE_WIDTH; they need not be equal.
//   Stretch:   any m, k, n ≥ 1.
//   k = 0:     an empty sum; every element of C becomes 0.
//   m ≤ 0, n ≤ 0 or k < 0: C has no elements, or the sizes make no sense. Nothing is launched, and C is not touched.
void matmul(const float* A, const float* B, float* C, int m, int k, int n);
