#pragma once

extern __device__ int other_variable;
extern __constant__ int table[4];
__device__ int twice(int x);
__device__ int other_helper();

template <class T>
__device__ __noinline__ T both(T x) {
    static __device__ int calls = 0;
    return 2 * x + 0 * calls;
}

void other_sets_up();
int other_runs(int* out);
