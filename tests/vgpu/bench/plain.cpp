// Compiled with -O2, as the benchmark's output says.
#include "plain.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace warpgrade::vgpu::bench::plain {

void matmul_naive(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void matmul_tiled(const float* a, const float* b, float* c, int n) {
    constexpr int tile = 16;
    for (int row = 0; row < n; row += tile)
        for (int column = 0; column < n; column += tile) {
            float sum[tile][tile] = {};
            for (int t = 0; t < n; t += tile)
                for (int i = 0; i < tile; ++i)
                    for (int j = 0; j < tile; ++j)
                        for (int k = 0; k < tile; ++k)
                            sum[i][j] += a[(row + i) * n + t + k] * b[(t + k) * n + column + j];
            for (int i = 0; i < tile; ++i)
                for (int j = 0; j < tile; ++j) c[(row + i) * n + column + j] = sum[i][j];
        }
}

void step_v0(float* r, const float* d, int n) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            float best = std::numeric_limits<float>::infinity();
            for (int k = 0; k < n; ++k) best = std::min(best, d[n * i + k] + d[n * k + j]);
            r[n * i + j] = best;
        }
}

void step_v3(float* r, const float* rows, const float* columns, int n) {
    constexpr int tile = 8;
    for (int i = 0; i < n; i += tile)
        for (int j = 0; j < n; j += tile) {
            float best[tile][tile];
            for (auto& row : best) std::fill(std::begin(row), std::end(row), std::numeric_limits<float>::infinity());
            for (int k = 0; k < n; ++k)
                for (int a = 0; a < tile; ++a)
                    for (int b = 0; b < tile; ++b)
                        best[a][b] = std::min(best[a][b], columns[n * k + i + a] + rows[n * k + j + b]);
            for (int a = 0; a < tile; ++a)
                for (int b = 0; b < tile; ++b) r[n * (i + a) + j + b] = best[a][b];
        }
}

namespace {

template <class BlockSum>
float reduce(const float* in, float* scratch, int n, BlockSum&& sum) {
    for (const float* from = in;; from = scratch) {
        const int blocks = (n + 255) / 256;
        for (int b = 0; b < blocks; ++b) {
            float s[256];
            for (int t = 0; t < 256; ++t) s[t] = b * 256 + t < n ? from[b * 256 + t] : 0;
            scratch[b] = sum(s);
        }
        if (blocks == 1) return scratch[0];
        n = blocks;
    }
}

float tree(float* s, int n) {
    for (int half = n / 2; half > 0; half /= 2)
        for (int t = 0; t < half; ++t) s[t] += s[t + half];
    return s[0];
}

}  // namespace

float reduce_tree(const float* in, float* scratch, int n) {
    return reduce(in, scratch, n, [](float* s) { return tree(s, 256); });
}

float reduce_shuffle(const float* in, float* scratch, int n) {
    return reduce(in, scratch, n, [](float* s) {
        float of_warp[32] = {};
        for (int w = 0; w < 8; ++w) of_warp[w] = tree(s + 32 * w, 32);
        return tree(of_warp, 32);
    });
}

void convolution(const float* in, float* out, int n, const float* mask, int width) {
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int j = 0; j < width; ++j) {
            const int at = i - width / 2 + j;
            if (at >= 0 && at < n) sum += in[at] * mask[j];
        }
        out[i] = sum;
    }
}

void gather(const float* in, const int* where, float* out, int n) {
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int j = 0; j < 8; ++j) sum += in[where[j * n + i]];
        out[i] = sum;
    }
}

}  // namespace warpgrade::vgpu::bench::plain
