// CUB's algorithms for a whole device, each compared with the same computed on the host.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

int wrong = 0;
void check(bool right, const char* what) {
    if (right) return;
    printf("wrong: %s\n", what);
    ++wrong;
}

template <class T>
struct Array {
    explicit Array(size_t count) : size(count) { cudaMalloc(&data, count * sizeof(T)); }
    explicit Array(const std::vector<T>& host) : Array(host.size()) {
        cudaMemcpy(data, host.data(), size * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Array() { cudaFree(data); }
    std::vector<T> host() const {
        std::vector<T> copy(size);
        cudaMemcpy(copy.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost);
        return copy;
    }
    T* data = nullptr;
    size_t size;
};

// CUB asks twice: for the size of its workspace, then to do it.
template <class F>
void with_workspace(const char* what, F&& call) {
    size_t bytes = 0;
    check(call(nullptr, bytes) == cudaSuccess, what);
    Array<char> workspace(bytes);
    check(call(workspace.data, bytes) == cudaSuccess, what);
}

struct Odd {
    __host__ __device__ bool operator()(unsigned v) const { return v & 1; }
};

int main() {
    const int n = 30000;
    std::vector<unsigned> in(n), index(n);
    unsigned state = 1;
    for (int i = 0; i < n; ++i) in[i] = (state = state * 1664525u + 1013904223u) >> 12, index[i] = i;
    const Array<unsigned> d(in), values(index);
    Array<unsigned> out(n), out_values(n), one(1);

    with_workspace("reduce", [&](void* w, size_t& b) { return cub::DeviceReduce::Sum(w, b, d.data, one.data, n); });
    check(one.host()[0] == std::accumulate(in.begin(), in.end(), 0u), "DeviceReduce::Sum");

    with_workspace("scan", [&](void* w, size_t& b) {
        return cub::DeviceScan::ExclusiveSum(w, b, d.data, out.data, n);
    });
    std::vector<unsigned> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0u);
    check(out.host() == expected, "DeviceScan::ExclusiveSum");

    with_workspace("sort", [&](void* w, size_t& b) {
        return cub::DeviceRadixSort::SortPairs(w, b, d.data, out.data, values.data, out_values.data, n);
    });
    std::vector<unsigned> order = index;
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return in[a] < in[b]; });
    check(out_values.host() == order, "DeviceRadixSort::SortPairs");

    with_workspace("select", [&](void* w, size_t& b) {
        return cub::DeviceSelect::If(w, b, d.data, out.data, one.data, n, Odd{});
    });
    expected.clear();
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), Odd{});
    std::vector<unsigned> selected = out.host();
    selected.resize(one.host()[0]);
    check(selected == expected, "DeviceSelect::If");

    const int bins = 16;
    Array<int> histogram(bins);
    with_workspace("histogram", [&](void* w, size_t& b) {
        return cub::DeviceHistogram::HistogramEven(w, b, d.data, histogram.data, bins + 1, 0u, 1u << 20, n);
    });
    std::vector<int> counts(bins);
    for (unsigned v : in) ++counts[v >> 16];
    check(histogram.host() == counts, "DeviceHistogram::HistogramEven");

    if (!wrong) printf("right\n");
    return wrong;
}
