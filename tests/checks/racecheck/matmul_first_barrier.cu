// A tiled product of matrices without the barrier behind the loads: the reader of `as` is in the writer's warp.
const int T = 16, N = 32;
__global__ void matmul(const float* a, const float* b, float* c) {
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0;
    for (int m = 0; m < N; m += T) {
        as[y][x] = a[row * N + m + x];
        bs[y][x] = b[(m + y) * N + column];
        for (int k = 0; k < T; ++k)
            // expect: racecheck/warp (other: -5), racecheck/shared (other: -4)
            // may: racecheck/warp (other: -4), initcheck/shared
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

int main() {
    static float a[N * N], b[N * N], c[N * N];
    float *d_a, *d_b, *d_c;
    for (int i = 0; i < N * N; ++i) a[i] = i % 7, b[i] = i % 5;
    cudaMalloc(&d_a, sizeof a), cudaMalloc(&d_b, sizeof b), cudaMalloc(&d_c, sizeof c);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice);
    matmul<<<dim3(2, 2), dim3(T, T)>>>(d_a, d_b, d_c);
    cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost);
    cudaFree(d_a), cudaFree(d_b), cudaFree(d_c);
    for (int i = 0; i < N * N; ++i) {
        float sum = 0;
        for (int k = 0; k < N; ++k) sum += a[i / N * N + k] * b[k * N + i % N];
        if (c[i] != sum) return 1;
    }
    return 0;
}
