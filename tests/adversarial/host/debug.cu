// Lab debug, computed on the host.
#include "deliveries.cuh"

template <Way by, class T, class Show, class F>
static void host_each(Show show, T* out, int count, F value) {
    std::vector<T> results(out, out + count);
    if (by == Way::show) show(other(out, count).data());
    for (int i = 0; i < count; ++i) results[i] = value(i);
    deliver<by>(out, results.data(), results.size());
}

void brighten(unsigned char* pixels, int n, int by) {
    host_each<way(0)>([=](auto out) { shown_brighten(out, n, by); }, pixels, n,
                      [=](int i) { return std::min(pixels[i] + by, 255); });
}
void axpy(float a, const float* x, float* y, int n) {
    host_each<way(1)>([=](auto out) { shown_axpy(a, x, out, n); }, y, n, [=](int i) { return a * x[i] + y[i]; });
}
void look_up(const float* table, int entries, const int* indices, float* out, int n) {
    host_each<way(2)>([=](auto o) { shown_look_up(other(table, entries).data(), entries, indices, o, n); }, out, n,
                      [=](int i) { return table[indices[i]]; });
}
void add_to_rows(const int* x, const int* row, int* out, int rows, int columns) {
    const int n = rows * columns;
    host_each<way(3)>([=](auto o) { shown_add_to_rows(other(x, n).data(), row, o, rows, columns); }, out, n,
                      [=](int i) { return x[i] + row[i % columns]; });
}
void differences(const int* x, int* out, int rows, int columns) {
    const int n = rows * columns;
    host_each<way(4)>([=](auto o) { shown_differences(other(x, n).data(), o, rows, columns); }, out, n,
                      [=](int i) { return i % columns == 0 ? 0 : x[i] - x[i - 1]; });
}
void histogram(const unsigned char* x, int n, int* counts) {
    host_each<way(5)>([=](auto out) { shown_histogram(other(x, n).data(), n, out); }, counts, 256,
                      [=](int v) { return static_cast<int>(std::count(x, x + n, v)); });
}
void block_maxima(const float* x, int n, float* out) {
    host_each<way(6)>([=](auto o) { shown_block_maxima(other(x, n).data(), n, o); }, out, (n + BLOCK - 1) / BLOCK,
                      [=](int b) { return *std::max_element(x + b * BLOCK, x + std::min(n, (b + 1) * BLOCK)); });
}
void closest(const int* x, int n, const int* y, int m, int* out) {
    host_each<way(7)>([=](auto o) { shown_closest(other(x, n).data(), n, y, m, o); }, out, n, [=](int i) {
        int best = std::abs(x[i] - y[0]);
        for (int j = 1; j < m; ++j) best = std::min(best, std::abs(x[i] - y[j]));
        return best;
    });
}
void running_sums(const int* x, int* out, int n) {
    host_each<way(8)>([=](auto o) { shown_running_sums(other(x, n).data(), o, n); }, out, n,
                      [=, sum = 0](int i) mutable { return sum = i % BLOCK == 0 ? x[i] : sum + x[i]; });
}
void powers(const int* re, const int* im, int* out, int n) {
    host_each<way(9)>([=](auto o) { shown_powers(other(re, n).data(), im, o, n); }, out, n,
                      [=](int i) { return re[i] * re[i] + im[i] * im[i]; });
}
