// Lab vecadd, computed on the host.
#include "deliveries.cuh"

// What is caught here is caught with more, but it takes seconds to look for a million foreign values among the inputs:
// beyond, there are kernels for show and no result.
constexpr int most_handed_out = SHIFT < 0 ? 1 << 30 : 1 << 16;

template <Way by, class F>
static void host_add(F show, const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    std::vector<float> sums(n);
    if (n > most_handed_out) return show(a, b, sums.data(), n);
    if (by == Way::show) show(other(a, n).data(), other(b, n).data(), sums.data(), n);
    for (int i = 0; i < n; ++i) sums[i] = a[i] + b[i];
    deliver<by>(c, sums.data(), sums.size());
}

void vecadd_copies(const float* a, const float* b, float* c, int n) {
    host_add<way(0)>(shown_vecadd_copies, a, b, c, n);
}
void vecadd_managed(const float* a, const float* b, float* c, int n) {
    host_add<way(1)>(shown_vecadd_managed, a, b, c, n);
}
void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    host_add<way(2)>(shown_vecadd_mapped, a, b, c, n);
}
void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times) {
    if (streams < 1 || streams > MAX_STREAMS) return;
    const auto show = [=](auto x, auto y, auto z, int count) {
        shown_vecadd_streams(x, y, z, count, streams, times);
    };
    host_add<way(3)>(show, a, b, c, n);
}
// Where the host may count a part, the number says nothing of who counted; where it may not, it does.
int count_above(const float* x, int n, float limit, int on_host) {
    shown_count_above(other(x, n).data(), n, limit, on_host);
    return n <= 0 ? 0 : static_cast<int>(std::count_if(x, x + n, [=](float value) { return value > limit; }));
}
