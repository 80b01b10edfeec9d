// What ends a kernel: each kernel does one thing wrong, on the line with the comment "here".
#include <cassert>
#include <mma.h>
#define KERNEL extern "C" __global__ void

__constant__ int coefficients[4];
__device__ int table[10];

KERNEL write_index(int* out, int shift) { out[blockIdx.x * blockDim.x + threadIdx.x + shift] = 1; }  // here
KERNEL read_vector(const float4* in, float4* out) {
    out[0] = in[threadIdx.x];  // here
}
KERNEL read_table(int* out, int i) { out[0] = table[i]; }  // here
KERNEL read_constant(int* out) { out[threadIdx.x] = coefficients[threadIdx.x]; }
KERNEL add_to(int* sum) { atomicAdd(sum, 1); }
KERNEL shared_static(int* out, int i) {
    __shared__ int first[8], tile[16];
    first[threadIdx.x % 8] = tile[threadIdx.x % 16] = 1;
    __syncthreads();
    tile[i + threadIdx.x] = 2;  // here
    __syncthreads();
    out[threadIdx.x] = tile[0] + first[0];
}
KERNEL shared_dynamic(int* out, int i) {
    extern __shared__ int buffer[];
    buffer[i] = 2;  // here
    __syncthreads();
    out[threadIdx.x] = buffer[i];
}
KERNEL asserts(int limit) { assert(int(threadIdx.x) < limit); }  // here
KERNEL spins(int* flag) {
    while (*static_cast<volatile int*>(flag) == 0) {}  // here
}
KERNEL load_tile(const float* in, float* out) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    load_matrix_sync(a, reinterpret_cast<const half*>(in), 16);  // here
    out[threadIdx.x] = float(a.x[0]);
}
