// The four ways to the device and back, as whole calls, and the link itself.
#include "../../reference/vecadd/vecadd.cu"
#include "timing.cuh"

int main() {
    for (const int n : {1 << 20, 1 << 24}) {
        std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);
        char size[32];
        std::snprintf(size, sizeof size, "2^%d", n == 1 << 20 ? 20 : 24);
        const auto show = [&](const char* what, double ms) { row(what, size, ms, 12e-9 * n, "GB/s"); };
        show("vecadd_copies", call_ms([&] { vecadd_copies(a.data(), b.data(), c.data(), n); }));
        show("vecadd_managed", call_ms([&] { vecadd_managed(a.data(), b.data(), c.data(), n); }));
        show("vecadd_mapped", call_ms([&] { vecadd_mapped(a.data(), b.data(), c.data(), n); }));
        const auto streams_ms = [&](int streams, int times) {
            return call_ms([&] { vecadd_streams(a.data(), b.data(), c.data(), n, streams, times); });
        };
        show("vecadd_streams, 1", streams_ms(1, 1));
        show("vecadd_streams, 4", streams_ms(4, 1));
        // What each further time takes, the buffers being there.
        constexpr int times = 51;
        show("vecadd_streams, 1, each further time", (streams_ms(1, times) - streams_ms(1, 1)) / (times - 1));
        show("vecadd_streams, 4, each further time", (streams_ms(4, times) - streams_ms(4, 1)) / (times - 1));
        float *pinned, *device;
        CHECK(cudaHostAlloc(&pinned, n * sizeof(float), cudaHostAllocDefault));
        CHECK(cudaMalloc(&device, n * sizeof(float)));
        const auto copy = [&](const char* what, void* to, const void* from, cudaMemcpyKind kind) {
            row(what, size, kernel_ms([&] { cudaMemcpyAsync(to, from, n * sizeof(float), kind); }), 4e-9 * n, "GB/s");
        };
        copy("copy up, page-locked", device, pinned, cudaMemcpyHostToDevice);
        copy("copy down, page-locked", pinned, device, cudaMemcpyDeviceToHost);
        copy("copy up, pageable", device, a.data(), cudaMemcpyHostToDevice);
        copy("copy down, pageable", c.data(), device, cudaMemcpyDeviceToHost);
        CHECK(cudaFreeHost(pinned));
        CHECK(cudaFree(device));
    }
}
