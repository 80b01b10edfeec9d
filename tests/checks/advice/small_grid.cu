// Two blocks on a device of four multiprocessors, as advice is asked for here.
const int N = 1024, ROUNDS = 12000;
__global__ void iterate(const float* in, float* out) {  // expect: advice/small-grid
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < ROUNDS; ++k) x = 1 / (x + 1);
    out[i] = x;
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    iterate<<<N / 512, 512>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (!(out[i] > 0.5f)) return 1;
    return 0;
}
