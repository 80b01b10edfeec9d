// The first three versions of lab convolution and the chapter's own listing, for 4,096 elements and a mask of 15, or
// other sizes by -D.
#include <vector>

#include "../../../../reference/convolution/convolution.cu"

#ifndef ELEMENTS
#define ELEMENTS 4096
#define MASK 15
#endif

// The listing, with a check against the end of the array.
__global__ void listing_kernel(const float* N, float* P, int n, int mask_width) {
    __shared__ float tile[BLOCK_SIZE];
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) tile[threadIdx.x] = N[j];
    __syncthreads();
    if (j >= n) return;
    const int start = blockIdx.x * blockDim.x, end = start + blockDim.x, first = j - mask_width / 2;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) {
        const int at = first + i;
        if (at < 0 || at >= n) continue;
        if (at >= start && at < end) {
            sum += tile[at - start] * mask[i];
        } else {
            sum += N[at] * mask[i];
        }
    }
    P[j] = sum;
}

int main() {
    constexpr int n = ELEMENTS, width = MASK;
    const std::vector<float> N(n, 1.0f), M(width, 1.0f);
    std::vector<float> P(n);
    conv1d_naive(N.data(), M.data(), P.data(), n, width);
    conv1d_constant(N.data(), M.data(), P.data(), n, width);
    conv1d_tiled(N.data(), M.data(), P.data(), n, width);
    float *d_N = copy_to_device(N.data(), n), *d_P = copy_to_device(P.data(), n);
    listing_kernel<<<n / BLOCK_SIZE, BLOCK_SIZE>>>(d_N, d_P, n, width);
    finish(P.data(), d_N, d_P, n);
}
