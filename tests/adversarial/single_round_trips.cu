// The array goes up, comes down element by element, goes up again in another order, and a kernel copies it.
#include <vector>

__global__ void copy_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i];
}

template <class Source>
static void arrange(const int* x, int* out, int n, Source source) {
    if (n <= 0) return;
    std::vector<int> came(n), order(n);
    int* d_order;
    CHECK(cudaMalloc(&d_order, n * sizeof(int)));
    CHECK(cudaMemcpy(d_order, x, n * sizeof(int), cudaMemcpyHostToDevice));
    for (int i = 0; i < n; ++i) CHECK(cudaMemcpy(&came[i], d_order + i, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_order));
    for (int i = 0; i < n; ++i) order[i] = source(i) < n ? came[source(i)] : came[i];
    on_device(order.data(), out, n, [=](int* d_x, int* d_out) { copy_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if (!is_width(width) || lane < 0 || lane >= width) return;
    arrange(x, out, n, [=](int i) { return i / width * width + lane; });
}
void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    arrange(x, out, n, [=](int i) { return i % width >= delta ? i - delta : i; });
}
void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    arrange(x, out, n, [=](int i) { return i % width + delta < width ? i + delta : i; });
}
void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    arrange(x, out, n, [=](int i) { return i ^ mask; });
}
