// One block walks through the whole array, in a grid of blocks that do nothing.
__global__ void walk_kernel(const int* x, int* out, int n) {
    if (blockIdx.x != 0) return;
    __shared__ int sum;
    int before = 0;
    for (int first = 0; first < n; first += BLOCK_SIZE) {
        const int i = first + threadIdx.x;
        const int value = scan_of_block(i < n ? x[i] : 0) + before;
        if (i < n) out[i] = value;
        if (threadIdx.x == BLOCK_SIZE - 1) sum = value;
        __syncthreads();
        before = sum;
    }
}

void scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { walk_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}
