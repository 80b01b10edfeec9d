// Version 1, cut into bands of rows that run in 16 streams side by side.
constexpr int PIECES = 16, BAND_WIDTH = 64, BAND_HEIGHT = 4;

__global__ void band_kernel(float* r, const float* d, int first_row, int end_row, int n) {
    const int j = blockIdx.x * BAND_WIDTH + threadIdx.x;
    if (j >= n) return;
    for (int i = first_row + threadIdx.y; i < end_row; i += BAND_HEIGHT) {
        float shortest = INFINITY;
        for (int k = 0; k < n; ++k) shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
        r[n * i + j] = shortest;
    }
}

void step_v4(float* r, const float* d, int n) {
    if (n <= 0) return;
    const size_t bytes = sizeof(float) * n * n;
    float *d_r, *d_d;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));
    static cudaStream_t streams[PIECES];
    for (int piece = 0; piece < PIECES; ++piece) {
        if (!streams[piece]) CHECK(cudaStreamCreate(&streams[piece]));
        const int first = n * piece / PIECES, end = n * (piece + 1) / PIECES;
        if (first == end) continue;
        band_kernel<<<(n + BAND_WIDTH - 1) / BAND_WIDTH, dim3(BAND_WIDTH, BAND_HEIGHT), 0, streams[piece]>>>(
            d_r, d_d, first, end, n);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
}
