// Thrust's algorithms, each compared with the same computed on the host. Prints what is wrong; the exit status counts.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

int wrong = 0;
void check(bool right, const char* what) {
    if (right) return;
    printf("wrong: %s\n", what);
    ++wrong;
}

struct Saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

template <class T>
bool same(const thrust::device_vector<T>& device, const std::vector<T>& host) {
    const thrust::host_vector<T> copy = device;
    return copy.size() == host.size() && std::equal(host.begin(), host.end(), copy.begin());
}

int main() {
    const int n = 20000;
    std::vector<int> keys(n), values(n);
    unsigned state = 12345;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        keys[i] = static_cast<int>(state >> 8) % 1000 - 500;
        values[i] = i;
    }
    const thrust::device_vector<int> k(keys.begin(), keys.end());

    const int sum = std::accumulate(keys.begin(), keys.end(), 0);
    check(thrust::reduce(k.begin(), k.end()) == sum, "reduce");
    check(thrust::reduce(k.begin(), k.end(), -1000, thrust::maximum<int>()) ==
              *std::max_element(keys.begin(), keys.end()), "reduce with maximum");

    thrust::device_vector<float> x(n), y(n);
    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), x.begin(),
                      thrust::negate<float>());
    thrust::fill(y.begin(), y.end(), 7.0f);
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{2.0f});
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = 2.0f * -static_cast<float>(i) + 7.0f;
    check(same(y, expected), "transform");

    thrust::device_vector<int> scanned(n);
    thrust::inclusive_scan(k.begin(), k.end(), scanned.begin());
    std::vector<int> sums(n);
    std::partial_sum(keys.begin(), keys.end(), sums.begin());
    check(same(scanned, sums), "inclusive_scan");

    thrust::device_vector<int> sorted_keys = k, sorted_values(values.begin(), values.end());
    thrust::sort_by_key(sorted_keys.begin(), sorted_keys.end(), sorted_values.begin());
    std::vector<int> order = values;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    check(same(sorted_values, order), "sort_by_key is stable");

    std::map<int, int> counts;
    for (int key : keys) ++counts[key];
    std::vector<int> distinct, repeats;
    for (auto [key, count] : counts) distinct.push_back(key), repeats.push_back(count);
    thrust::device_vector<int> ones(n, 1), groups(n), sizes(n);
    const auto ends = thrust::reduce_by_key(sorted_keys.begin(), sorted_keys.end(), ones.begin(), groups.begin(),
                                            sizes.begin());
    groups.erase(ends.first, groups.end());
    sizes.erase(ends.second, sizes.end());
    check(same(groups, distinct) && same(sizes, repeats), "reduce_by_key");

    sorted_keys.erase(thrust::unique(sorted_keys.begin(), sorted_keys.end()), sorted_keys.end());
    check(same(sorted_keys, distinct), "unique");

    // An order of our own: merge sort instead of radix sort.
    thrust::device_vector<int> descending = k;
    thrust::sort(descending.begin(), descending.end(), thrust::greater<int>());
    std::vector<int> down = keys;
    std::sort(down.begin(), down.end(), std::greater<int>());
    check(same(descending, down), "sort, greatest first");

    if (!wrong) printf("right\n");
    return wrong;
}
