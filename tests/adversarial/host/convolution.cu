// Lab convolution, computed on the host.
#include "deliveries.cuh"

template <Way by, class F>
static void host_convolve(F show, const float* N, const float* M, float* P, int height, int width, int mask_width,
                          bool flat) {
    if (height <= 0 || width <= 0 || mask_width < 1 || mask_width % 2 == 0 || mask_width > MAX_MASK_WIDTH) return;
    const int r = mask_width / 2;
    std::vector<float> sums(static_cast<std::size_t>(height) * width);
    const int weights = flat ? mask_width : mask_width * mask_width;
    if (by == Way::show) show(other(N, height * width).data(), other(M, weights).data(), sums.data());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float sum = 0;
            for (int v = flat ? r : 0; v < (flat ? r + 1 : mask_width); ++v)
                for (int u = 0; u < mask_width; ++u) {
                    const int row = y - r + v, column = x - r + u;
                    if (row >= 0 && row < height && column >= 0 && column < width)
                        sum += N[row * width + column] * M[flat ? u : v * mask_width + u];
                }
            sums[y * width + x] = sum;
        }
    deliver<by>(P, sums.data(), sums.size());
}

void conv1d_naive(const float* N, const float* M, float* P, int n, int w) {
    const auto show = [=](auto x, auto y, auto z) { shown_conv1d_naive(x, y, z, n, w); };
    host_convolve<way(0)>(show, N, M, P, 1, n, w, true);
}
void conv1d_constant(const float* N, const float* M, float* P, int n, int w) {
    const auto show = [=](auto x, auto y, auto z) { shown_conv1d_constant(x, y, z, n, w); };
    host_convolve<way(1)>(show, N, M, P, 1, n, w, true);
}
void conv1d_tiled(const float* N, const float* M, float* P, int n, int w) {
    const auto show = [=](auto x, auto y, auto z) { shown_conv1d_tiled(x, y, z, n, w); };
    host_convolve<way(2)>(show, N, M, P, 1, n, w, true);
}
void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int w) {
    const auto show = [=](auto x, auto y, auto z) { shown_conv2d_tiled(x, y, z, height, width, w); };
    host_convolve<way(3)>(show, N, M, P, height, width, w, false);
}
void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int w) {
    const auto show = [=](auto x, auto y, auto z) { shown_conv2d_registers(x, y, z, height, width, w); };
    host_convolve<way(4)>(show, N, M, P, height, width, w, false);
}
