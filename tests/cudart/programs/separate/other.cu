#include "../checks.cuh"
#include "shared.cuh"

static __device__ int own = 200;
__device__ int other_variable = 0;
__constant__ int table[4];
extern __device__ int from_main;

static __device__ __noinline__ int helper(int x) { return x + 6; }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ int other_helper() { return helper(own); }

static __global__ void other_kernel(int* out) {
    *out = from_main + both<int>(4);
    printf("from %s\n", "other");
}

void other_sets_up() {
    const int values[4] = {10, 20, 30, 40}, fifty = 50;
    OK(cudaMemcpyToSymbol(table, values, sizeof values));
    OK(cudaMemcpyToSymbol(other_variable, &fifty, sizeof fifty));
}

int other_runs(int* out) {
    other_kernel<<<1, 1>>>(out);
    OK(cudaGetLastError());
    return download(out, 1)[0];
}
