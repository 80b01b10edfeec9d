// CHECK(call): ends the program when a CUDA call fails, and says which one, where and why.
//
//     CHECK(cudaMalloc(&d_x, bytes));
//     kernel<<<blocks, threads>>>(d_x);
//     CHECK(cudaGetLastError());  // a launch returns nothing; this is what it would have returned
//
// All labs have this header: include it as "check.cuh". It is there wherever your file is graded, so do not hand it in.
// You may write your own CHECK instead: leave the #include out, or define yours above it.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#ifndef CHECK
#define CHECK(call) course::check((call), #call, __FILE__, __LINE__)
#endif

namespace course {

inline void check(cudaError_t error, const char* call, const char* file, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, cudaGetErrorString(error), cudaGetErrorName(error));
    std::exit(EXIT_FAILURE);
}

}  // namespace course
