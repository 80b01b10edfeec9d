// A transpose through shared memory: the column of a 32-wide tile lies in one bank.
const int W = 256, N = W * W;
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.y * 32 + y) * W + blockIdx.x * 32 + x];
    __syncthreads();
    out[(blockIdx.x * 32 + y) * W + blockIdx.y * 32 + x] = tile[x][y];  // expect: advice/bank-conflicts
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    transpose<<<dim3(W / 32, W / 32), dim3(32, 32)>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (out[i] != in[i % W * W + i / W]) return 1;
    return 0;
}
