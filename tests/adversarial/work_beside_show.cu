// Version 1 in small launches, which look like preparation beside one that executes more, and does nothing.
__global__ void rows_kernel(float* r, const float* d, int n, int first) {
    const int i = first + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    r[n * i + j] = shortest;
}

__global__ void show_kernel(float* to, const float* from, int n) {
    __shared__ float part[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n * n ? from[i] : 0;
    __syncthreads();
    volatile float* const again = part;
    float value = 0;
    for (int k = 0; k < 16; ++k) value = again[threadIdx.x];
    if (i < n * n) to[i] = value;
}

void step_v3(float* r, const float* d, int n) {
    if (n <= 0) return;
    const size_t bytes = sizeof(float) * n * n;
    float *d_r, *d_d, *d_shown;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMalloc(&d_shown, bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));
    for (int first = 0; first < n; first += 2) rows_kernel<<<(n + 31) / 32, dim3(32, 2)>>>(d_r, d_d, n, first);
    show_kernel<<<(n * n + 255) / 256, 256>>>(d_shown, d_r, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(r, d_shown, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
    CHECK(cudaFree(d_shown));
}
