// Lab scan, computed on the host.
#include "deliveries.cuh"

template <Way by, class S, class F>
static void host_each(S show, const int* x, int* out, int n, F&& value) {
    if (n <= 0) return;
    std::vector<int> results(n);
    if (by == Way::show) show(other(x, n).data(), results.data(), n);
    for (int i = 0; i < n; ++i) results[i] = value(x, i, n);
    deliver<by>(out, results.data(), results.size());
}

static bool good_width(int width) { return width >= 1 && width <= 32 && (width & (width - 1)) == 0; }

void vote_all(const int* x, int* out, int n) {
    host_each<way(0)>(shown_vote_all, x, out, n, [](const int* x, int i, int n) {
        int all = 1;
        for (int j = i / 32 * 32; j < std::min(n, i / 32 * 32 + 32); ++j) all &= x[j] != 0;
        return all;
    });
}
void vote_any(const int* x, int* out, int n) {
    host_each<way(1)>(shown_vote_any, x, out, n, [](const int* x, int i, int n) {
        int any = 0;
        for (int j = i / 32 * 32; j < std::min(n, i / 32 * 32 + 32); ++j) any |= x[j] != 0;
        return any;
    });
}
void vote_rank(const int* x, int* out, int n) {
    host_each<way(2)>(shown_vote_rank, x, out, n, [](const int* x, int i, int) {
        int count = 0;
        for (int j = i / 32 * 32; j < i; ++j) count += x[j] != 0;
        return count;
    });
}
void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if (!good_width(width) || lane < 0 || lane >= width) return;
    host_each<way(3)>([=](auto a, auto b, int c) { shown_shuffle_broadcast(a, b, c, lane, width); }, x, out, n,
                      [=](const int* x, int i, int n) {
                          const int from = i / width * width + lane;
                          return x[from < n ? from : i];
                      });
}
void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if (!good_width(width) || delta < 0 || delta >= 32) return;
    host_each<way(4)>([=](auto a, auto b, int c) { shown_shuffle_up(a, b, c, delta, width); }, x, out, n,
                      [=](const int* x, int i, int) { return x[i % width >= delta ? i - delta : i]; });
}
void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if (!good_width(width) || delta < 0 || delta >= 32) return;
    host_each<way(5)>(
        [=](auto a, auto b, int c) { shown_shuffle_down(a, b, c, delta, width); }, x, out, n,
        [=](const int* x, int i, int n) { return x[i % width + delta < width && i + delta < n ? i + delta : i]; });
}
void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    host_each<way(6)>([=](auto a, auto b, int c) { shown_shuffle_xor(a, b, c, mask); }, x, out, n,
                      [=](const int* x, int i, int n) { return x[(i ^ mask) < n ? i ^ mask : i]; });
}
template <Way by, class S>
static void host_sums(S show, const int* x, int* out, int n, int part) {
    host_each<by>(show, x, out, n, [part, sum = 0](const int* x, int i, int) mutable {
        sum = i % part == 0 ? x[i] : sum + x[i];
        return sum;
    });
}
void warp_scan(const int* x, int* out, int n) { host_sums<way(7)>(shown_warp_scan, x, out, n, 32); }
void block_scan(const int* x, int* out, int n) { host_sums<way(8)>(shown_block_scan, x, out, n, BLOCK_SIZE); }
void scan(const int* x, int* out, int n) { host_sums<way(9)>(shown_scan, x, out, n, 1 << 30); }
void warp_offsets(const int* x, int* out, int n) {
    if (n <= 0) return;
    const int warps = (n - 1) / 32 + 1;
    std::vector<int> results(warps);
    if (way(10) == Way::show) shown_warp_offsets(other(x, n).data(), results.data(), n);
    for (int w = 0, sum = 0; w < warps; ++w) {
        if (32 * w % BLOCK_SIZE == 0) sum = 0;
        results[w] = sum;
        for (int i = 32 * w; i < std::min(n, 32 * w + 32); ++i) sum += x[i];
    }
    deliver<way(10)>(out, results.data(), results.size());
}
void add_block_sums(const int* x, const int* sums, int* out, int n) {
    host_each<way(11)>(
        [=](auto a, auto b, int c) { shown_add_block_sums(a, sums, b, c); }, x, out, n,
        [=](const int* x, int i, int) { return i < BLOCK_SIZE ? x[i] : x[i] + sums[i / BLOCK_SIZE - 1]; });
}
