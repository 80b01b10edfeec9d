// Lab step, computed on the host.
#include <limits>

#include "deliveries.cuh"

template <Way by, class F>
static void host_step(F show, float* r, const float* d, int n) {
    if (n <= 0) return;
    std::vector<float> shortest(static_cast<std::size_t>(n) * n);
    if (by == Way::show) show(shortest.data(), other(d, shortest.size()).data(), n);
    std::fill(shortest.begin(), shortest.end(), std::numeric_limits<float>::infinity());
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                shortest[i * n + j] = std::min(shortest[i * n + j], d[i * n + k] + d[k * n + j]);
    deliver<by>(r, shortest.data(), shortest.size());
}

void step_v0(float* r, const float* d, int n) { host_step<way(0)>(shown_step_v0, r, d, n); }
void step_v1(float* r, const float* d, int n) { host_step<way(1)>(shown_step_v1, r, d, n); }
void step_v2(float* r, const float* d, int n) { host_step<way(2)>(shown_step_v2, r, d, n); }
void step_v3(float* r, const float* d, int n) { host_step<way(3)>(shown_step_v3, r, d, n); }
void step_v4(float* r, const float* d, int n) { host_step<way(4)>(shown_step_v4, r, d, n); }
void step_1x8(float* r, const float* d, int n) { host_step<way(5)>(shown_step_1x8, r, d, n); }

void pad_and_transpose(float* copies, const float* d, int n) {
    if (n <= 0) return;
    const int nn = (n + 63) / 64 * 64;
    std::vector<float> both(2 * static_cast<std::size_t>(nn) * nn);
    if (way(6) == Way::show) shown_pad_and_transpose(both.data(), other(d, 1LL * n * n).data(), n);
    std::fill(both.begin(), both.end(), std::numeric_limits<float>::infinity());
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) both[nn * i + j] = both[nn * (nn + j) + i] = d[n * i + j];
    deliver<way(6)>(copies, both.data(), both.size());
}
