// What each version of the sum gains: its first pass, which is nearly all of it.
#include "../../reference/reduction/reduction.cu"
#include "timing.cuh"

int main() {
    const int n = 1 << 26, block = 256;
    float *x = device_floats(n), *sums = device_floats(n / block + 1);
    const auto show = [&](const char* what, Kernel kernel, int blocks) {
        row(what, "2^26", kernel_ms([&] { kernel<<<blocks, block, block * sizeof(float)>>>(x, sums, n); }), 4e-9 * n,
            "GB/s");
    };
    show("divergent", divergent_kernel, n / block);
    show("strided", strided_kernel, n / block);
    show("sequential", sequential_kernel, n / block);
    show("first add", first_add_kernel, n / block / 2);
    show("shuffle", shuffle_kernel, n / block / 2);
    show("grid stride", grid_stride_kernel, 132 * 8);
    const std::vector<float> host(1 << 22, 1.0f);
    const auto whole = [&](const char* what, auto function) {
        row(what, "2^22, whole call", call_ms([&] { function(host.data(), 1 << 22, block); }));
    };
    whole("reduce_divergent", reduce_divergent);
    whole("reduce_shuffle", reduce_shuffle);
    whole("reduce_grid_stride", reduce_grid_stride);
}
