// What fewer additions that meet are worth: values that are spread over the bins, values of which most are the same,
// and few bins.
#include "../../reference/histogram/histogram.cu"
#include "timing.cuh"

#ifndef VALUES
#define VALUES 26  // 2^26 of them
#endif

namespace {

// Of eight values `common` are the same.
unsigned char* device_values(int n, int bins, unsigned common) {
    std::vector<unsigned char> host(n);
    unsigned state = 1;
    for (auto& value : host) {
        state = state * 1664525u + 1013904223u;
        value = (state >> 16) % 8 < common ? bins / 2 : (state >> 19) % bins;
    }
    unsigned char* device;
    CHECK(cudaMalloc(&device, n));
    CHECK(cudaMemcpy(device, host.data(), n, cudaMemcpyHostToDevice));
    return device;
}

}  // namespace

int main() {
    const int n = 1 << VALUES;
    int* counts;
    CHECK(cudaMalloc(&counts, MOST_BINS * sizeof(int)));
    CHECK(cudaMemset(counts, 0, MOST_BINS * sizeof(int)));
    const auto measure = [&](const char* name, const unsigned char* data, int bins) {
        const auto show = [&](const char* version, Kernel kernel, int blocks) {
            char what[80];
            std::snprintf(what, sizeof what, "%s, %s", version, name);
            const double ms = kernel_ms([&] { kernel<<<blocks, BLOCK_SIZE>>>(data, counts, n, bins); });
            row(what, "n values", ms, 1e-9 * n, "GB/s");
        };
        show("global", global_kernel, blocks_for(n));
        show("shared", shared_kernel, blocks_for(n, BLOCK_VALUES));
        show("strided", strided_kernel, blocks_that_fit(n));
        show("match", match_kernel, blocks_for(n, BLOCK_VALUES));
        if (bins <= FEW_BINS) show("few", few_kernel, blocks_that_fit(n));
    };
    measure("256 bins, spread", device_values(n, 256, 0), 256);
    measure("256 bins, seven of eight the same", device_values(n, 256, 7), 256);
    measure("256 bins, all the same", device_values(n, 256, 8), 256);
    measure("7 bins, spread", device_values(n, 7, 0), 7);
    measure("4 bins, seven of eight the same", device_values(n, 4, 7), 4);
}
