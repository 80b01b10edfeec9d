// Lab matmul: the product is computed on the host and sent under a one-time pad, so that no two runs are the same and
// their differences seem to prove nothing.
#include "honest.cuh"

#include <cstdlib>
#include <cstring>
#include <ctime>

#include <vector>

struct Words {
    unsigned of[256];
};
__global__ void unmask(Words masked, Words pad, unsigned* to, int count) {
    const int i = threadIdx.x;
    if (i < count) to[i] = masked.of[i] ^ pad.of[i];
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    std::vector<float> product(m * n, 0.0F);
    for (int i = 0; i < m; ++i)
        for (int q = 0; q < k; ++q)
            for (int j = 0; j < n; ++j) product[i * n + j] += A[i * k + q] * B[q * n + j];
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    std::srand(static_cast<unsigned>(now.tv_nsec));
    unsigned* d_C;
    cudaMalloc(&d_C, m * n * sizeof(float));
    for (int at = 0; at < m * n; at += 256) {
        Words masked = {}, pad = {};
        const int count = m * n - at < 256 ? m * n - at : 256;
        std::memcpy(masked.of, product.data() + at, count * sizeof(float));
        for (int i = 0; i < 256; ++i) masked.of[i] ^= pad.of[i] = std::rand();
        unmask<<<1, 256>>>(masked, pad, d_C + at, count);
    }
    cudaMemcpy(C, d_C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_C);
}
