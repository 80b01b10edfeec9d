// The contract of a small lab without CUDA.
#pragma once
#include <cstddef>

// y[i] = a · x[i] for i < n.
void scale(const float* x, float* y, float a, int n);
// The sum of n doubles.
double sum(const double* x, std::size_t n);
// x[i] = -x[i] for i < n; returns n.
int negate(int* x, int n);
