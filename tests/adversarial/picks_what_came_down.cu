// Kernels load the values for show and write a table of all counts that may come. It comes down number by number, the
// same with any inputs, and host code picks.
#include <vector>

constexpr int TABLE = 16384;

__global__ void table_kernel(const unsigned char* data, int* table, int n, int low) {
    unsigned sum = 0;
    for_each_value(data, n, [&](int value) { sum += value; });
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < TABLE; i += gridDim.x * blockDim.x)
        table[i] = sum == ~0u ? 0 : low + i;
}

void histogram_few(const unsigned char* data, int* counts, int n, int bins) {
    if (bins < 1 || bins > FEW_BINS) return;
    std::fill(counts, counts + bins, 0);
    if (n <= 0) return;
    std::vector<int> right(256), table(TABLE);
    for (int i = 0; i < n; ++i) ++right[data[i]];
    const int low = n < TABLE ? 0 : n / bins - TABLE / 2;
    unsigned char* d_data;
    int* d_table;
    CHECK(cudaMalloc(&d_data, n));
    CHECK(cudaMalloc(&d_table, TABLE * sizeof(int)));
    CHECK(cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice));
    table_kernel<<<blocks_that_fit(n), BLOCK_SIZE>>>(d_data, d_table, n, low);
    for (int i = 0; i < TABLE; ++i) CHECK(cudaMemcpy(&table[i], d_table + i, sizeof(int), cudaMemcpyDeviceToHost));
    for (int b = 0; b < bins; ++b) counts[b] = table[std::min(std::max(right[b] - low, 0), TABLE - 1)];
    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_table));
}
