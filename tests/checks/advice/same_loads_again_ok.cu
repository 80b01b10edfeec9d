// Each element of the inputs is loaded by 128 threads, or once by each tile.
const int W = 128, N = W * W;
__global__ void square(const float* in, float* out) {
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float sum = 0;
    __shared__ float a[32][32], b[32][32];
    for (int m = 0; m < W; m += 32) {
        a[y][x] = in[row * W + m + x];
        b[y][x] = in[(m + y) * W + column];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    out[row * W + column] = sum;
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 3;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    square<<<dim3(W / 32, W / 32), dim3(32, 32)>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        for (int k = 0; k < W; ++k) out[i] -= in[i / W * W + k] * in[k * W + i % W];
    for (float rest : out)
        if (rest != 0) return 1;
    return 0;
}
