// Variables with addresses in their initial values, function pointers, recursion, printf, launch bounds.
#include <cstdio>
__constant__ float weights[3] = {0.25f, -0.5f, 0.25f};
__device__ int numbers[8];
__device__ int* middle = numbers + 4;
struct __attribute__((packed)) Packed {
    char tag;
    int* pointer;
};
__device__ Packed packed = {7, numbers + 1};
__device__ int twice(int x) { return 2 * x; }
__device__ int minus3(int x) { return x - 3; }
using Function = int (*)(int);
__device__ Function functions[2] = {twice, minus3};

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void __launch_bounds__(128, 2) calls(int* out, int which) {
    int result = functions[which](out[threadIdx.x]) + fibonacci(threadIdx.x);
    if (result > 100) printf("%d %f\n", result, weights[which]);
    out[threadIdx.x] = result + *middle + *packed.pointer;
}
