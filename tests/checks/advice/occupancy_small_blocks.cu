// Blocks of one warp: a multiprocessor holds 32 blocks, so half of its warps at most.
const int N = 262144;
__global__ void follow(const float* in, float* out) {  // expect: advice/occupancy
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[int(in[int(in[int(in[i])])])];
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    follow<<<N / 32, 32>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (out[i] != in[i]) return 1;
    return 0;
}
