// wmma in its shapes, types and layouts, as nvcc's own header writes it: d = a * b + c with leading dimensions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <class A, class C, int M, int N, int K, class LA, class LB, class Memory = A>
__device__ void product(const Memory* a, const Memory* b, const C* c, C* d, int lda, int ldb, int ldc, int by_columns) {
    const auto layout = by_columns ? wmma::mem_col_major : wmma::mem_row_major;
    wmma::fragment<wmma::matrix_a, M, N, K, A, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, A, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, layout);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, ldc, layout);
}

using row = wmma::row_major;
using col = wmma::col_major;
#define PRODUCT(name, A, C, M, N, K, LA, LB, Memory)                                                                \
    extern "C" __global__ void name(const Memory* a, const Memory* b, const C* c, C* d, int lda, int ldb, int ldc, \
                                    int by_columns) {                                                               \
        product<A, C, M, N, K, LA, LB>(a, b, c, d, lda, ldb, ldc, by_columns);                                      \
    }
PRODUCT(f16_16_rc, half, float, 16, 16, 16, row, col, half)
PRODUCT(f16_16_cr, half, float, 16, 16, 16, col, row, half)
PRODUCT(f16_32_rr, half, float, 32, 8, 16, row, row, half)
PRODUCT(f16_32_cc, half, half, 32, 8, 16, col, col, half)
PRODUCT(f16_8_rc, half, half, 8, 32, 16, row, col, half)
PRODUCT(f16_8_cr, half, float, 8, 32, 16, col, row, half)
PRODUCT(bf16_16_rr, __nv_bfloat16, float, 16, 16, 16, row, row, __nv_bfloat16)
PRODUCT(bf16_32_cc, __nv_bfloat16, float, 32, 8, 16, col, col, __nv_bfloat16)
PRODUCT(bf16_8_rc, __nv_bfloat16, float, 8, 32, 16, row, col, __nv_bfloat16)
PRODUCT(tf32_rc, wmma::precision::tf32, float, 16, 16, 8, row, col, float)
PRODUCT(tf32_cr, wmma::precision::tf32, float, 16, 16, 8, col, row, float)
PRODUCT(f64_rc, double, double, 8, 8, 4, row, col, double)
PRODUCT(f64_cr, double, double, 8, 8, 4, col, row, double)
PRODUCT(s8_16_rc, signed char, int, 16, 16, 16, row, col, signed char)
PRODUCT(u8_16_cr, unsigned char, int, 16, 16, 16, col, row, unsigned char)
PRODUCT(s8_32_rr, signed char, int, 32, 8, 16, row, row, signed char)
PRODUCT(u8_8_rc, unsigned char, int, 8, 32, 16, row, col, unsigned char)

// C = A·B of any multiples of 16, tile by tile through shared memory, scaled in the fragments.
extern "C" __global__ void tiled(const half* a, const half* b, float* c, int n, float scale) {
    __shared__ half tile_a[16 * 24], tile_b[16 * 24];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            tile_a[i / 16 * 24 + i % 16] = a[(blockIdx.y * 16 + i / 16) * n + k + i % 16];
            tile_b[i / 16 * 24 + i % 16] = b[(k + i / 16) * n + blockIdx.x * 16 + i % 16];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, row> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, row> fb;
        wmma::load_matrix_sync(fa, tile_a, 24);
        wmma::load_matrix_sync(fb, tile_b, 24);
        for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = __hmul(fa.x[i], __float2half(2.0f));
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= scale;
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}

// Which lane holds which elements of an accumulator.
extern "C" __global__ void accumulator_layout(int* lanes) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> f;
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = threadIdx.x * 100 + i;
    wmma::store_matrix_sync(lanes, f, 16, wmma::mem_row_major);
}

// Executed by the lanes below `lanes` only.
extern "C" __global__ void in_a_part_of_the_warp(float* c, int lanes) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
    wmma::fill_fragment(f, 1.0f);
    if (threadIdx.x < lanes) wmma::store_matrix_sync(c, f, 16, wmma::mem_row_major);
}
