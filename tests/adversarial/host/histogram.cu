// Lab histogram, computed on the host.
#include "deliveries.cuh"

template <Way by, class S>
static void host_counts(S show, const unsigned char* data, int* counts, int n, int bins, int most = MOST_BINS) {
    if (bins < 1 || bins > most) return;
    std::fill(counts, counts + bins, 0);
    if (n <= 0) return;
    std::vector<int> results(bins);
    if (by == Way::show) show(other(data, n).data(), results.data(), n, bins);
    std::fill(results.begin(), results.end(), 0);
    for (int i = 0; i < n; ++i)
        if (data[i] < bins) ++results[data[i]];
    deliver<by>(counts, results.data(), results.size());
}

void histogram_global(const unsigned char* data, int* counts, int n, int bins) {
    host_counts<way(0)>(shown_histogram_global, data, counts, n, bins);
}
void histogram_shared(const unsigned char* data, int* counts, int n, int bins) {
    host_counts<way(1)>(shown_histogram_shared, data, counts, n, bins);
}
void histogram_strided(const unsigned char* data, int* counts, int n, int bins) {
    host_counts<way(2)>(shown_histogram_strided, data, counts, n, bins);
}
void histogram_match(const unsigned char* data, int* counts, int n, int bins) {
    host_counts<way(3)>(shown_histogram_match, data, counts, n, bins);
}
void histogram_few(const unsigned char* data, int* counts, int n, int bins) {
    host_counts<way(4)>(shown_histogram_few, data, counts, n, bins, FEW_BINS);
}
void contention(const unsigned char* data, int* queues, int n) {
    if (n <= 0) return;
    std::vector<int> results((n - 1) / 32 + 1);
    if (way(5) == Way::show) shown_contention(other(data, n).data(), results.data(), n);
    std::fill(results.begin(), results.end(), 0);
    for (int i = 0; i < n; ++i) {
        int same = 0;
        for (int j = i / 32 * 32; j < std::min(n, i / 32 * 32 + 32); ++j) same += data[j] == data[i];
        results[i / 32] = std::max(results[i / 32], same);
    }
    deliver<way(5)>(queues, results.data(), results.size());
}
