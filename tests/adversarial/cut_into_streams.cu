// A convolution without registers, cut into pieces that run in streams side by side: conv2d_tiled's kernel on bands of
// rows, each thread with several elements one after the other, so that a piece fills a part of the device only.
constexpr int PIECES = 8;

__global__ void band_kernel(const float* N, float* P, int first_row, int end_row, int height, int width,
                            int mask_width) {
    __shared__ float tile[TILE_HEIGHT + MAX_MASK_WIDTH - 1][TILE_WIDTH + MAX_MASK_WIDTH - 1];
    const int radius = mask_width / 2, column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    for (int top = first_row; top < end_row; top += TILE_HEIGHT) {
        __syncthreads();
        for (int y = threadIdx.y; y < TILE_HEIGHT + 2 * radius; y += TILE_HEIGHT)
            for (int x = threadIdx.x; x < TILE_WIDTH + 2 * radius; x += TILE_WIDTH) {
                const int row = top + y - radius, from = blockIdx.x * TILE_WIDTH + x - radius;
                const bool inside = row >= 0 && row < height && from >= 0 && from < width;
                tile[y][x] = inside ? N[row * width + from] : 0.0f;
            }
        __syncthreads();
        const int row = top + threadIdx.y;
        float sum = 0.0f;
        for (int y = 0; y < mask_width; ++y)
            for (int x = 0; x < mask_width; ++x)
                sum += tile[threadIdx.y + y][threadIdx.x + x] * mask[y * mask_width + x];
        if (row < end_row && column < width) P[row * width + column] = sum;
    }
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const int count = height * width;
    set_mask(M, mask_width * mask_width);
    float* d_N = copy_to_device(N, count);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    static cudaStream_t streams[PIECES];
    for (int piece = 0; piece < PIECES; ++piece) {
        if (!streams[piece]) CHECK(cudaStreamCreate(&streams[piece]));
        const int first = height * piece / PIECES, end = height * (piece + 1) / PIECES;
        if (first == end) continue;
        band_kernel<<<blocks_for(width, TILE_WIDTH), dim3(TILE_WIDTH, TILE_HEIGHT), 0, streams[piece]>>>(
            d_N, d_P, first, end, height, width, mask_width);
    }
    CHECK(cudaDeviceSynchronize());
    finish(P, d_N, d_P, count);
}
