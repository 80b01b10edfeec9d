// threadIdx.x is the row: neighbouring threads are a whole row apart.
const int W = 256, N = W * W;
__global__ void twice(const float* in, float* out) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    out[row * W + column] = 2 * in[row * W + column];
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    twice<<<dim3(W / 16, W / 16), dim3(16, 16)>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (out[i] != 2 * in[i]) return 1;
    return 0;
}
