// Matrix instructions through nvcuda::wmma, in every shape and type, and textures and surfaces.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <class A, class C, int M, int N, int K, class LA, class LB, class Memory = A>
__device__ void multiply(const Memory* a, const Memory* b, C* c, float scale) {
    wmma::fragment<wmma::matrix_a, M, N, K, A, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, A, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc, fd;
    wmma::fill_fragment(fc, C(0));
    wmma::load_matrix_sync(fa, a, 64);
    wmma::load_matrix_sync(fb, b, 64);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::load_matrix_sync(fd, c, 64, wmma::mem_col_major);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = C(float(fc.x[i]) * scale + float(fd.x[i]));
    wmma::store_matrix_sync(c, fc, 64, wmma::mem_row_major);
}
using row = wmma::row_major;
using col = wmma::col_major;
__global__ void half_float(const half* a, const half* b, float* c) {
    multiply<half, float, 16, 16, 16, row, col>(a, b, c, 2);
    multiply<half, float, 32, 8, 16, col, row>(a, b, c, 2);
    multiply<half, float, 8, 32, 16, row, row>(a, b, c, 2);
}
__global__ void half_half(const half* a, const half* b, half* c) {
    multiply<half, half, 16, 16, 16, row, col>(a, b, c, 2);
    multiply<half, half, 32, 8, 16, col, col>(a, b, c, 2);
}
__global__ void half_shared(const half* a, float* c) {
    __shared__ half tile[16 * 64];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    multiply<half, float, 16, 16, 16, row, row>(tile, tile, c, 2);
}
__global__ void bytes(const signed char* a, const unsigned char* b, int* c) {
    multiply<signed char, int, 16, 16, 16, row, col>(a, a, c, 2);
    multiply<unsigned char, int, 16, 16, 16, row, col>(b, b, c, 2);
    multiply<signed char, int, 32, 8, 16, row, col>(a, a, c, 2);
    multiply<unsigned char, int, 8, 32, 16, col, row>(b, b, c, 2);
}
#if __CUDA_ARCH__ >= 800
__global__ void bfloats(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
    multiply<__nv_bfloat16, float, 16, 16, 16, row, col>(a, b, c, 2);
    multiply<__nv_bfloat16, float, 32, 8, 16, row, col>(a, b, c, 2);
    multiply<__nv_bfloat16, float, 8, 32, 16, col, col>(a, b, c, 2);
}
__global__ void tf32(const float* a, const float* b, float* c) {
    multiply<wmma::precision::tf32, float, 16, 16, 8, row, col>(a, b, c, 2);
    c[0] = wmma::__float_to_tf32(c[1]);
}
__global__ void doubles(const double* a, const double* b, double* c) {
    multiply<double, double, 8, 8, 4, row, col>(a, b, c, 2);
}
#endif
