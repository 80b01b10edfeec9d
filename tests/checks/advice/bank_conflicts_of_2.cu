// Every second word: two threads of a warp in each bank that is used.
const int N = 65536;
__global__ void mirror(const float* in, float* out) {
    __shared__ float s[512];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    const int step = 2;
    s[step * t] = in[i];  // expect: advice/bank-conflicts
    __syncthreads();
    out[i] = s[step * (t ^ 1)];  // expect: advice/bank-conflicts
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    mirror<<<N / 256, 256>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (out[i] != in[i ^ 1]) return 1;
    return 0;
}
