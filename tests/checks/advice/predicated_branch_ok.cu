// Odd and even threads take different sides, of a few instructions each: they get predicates, and nobody branches.
const int N = 16384;
__global__ void iterate(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ volatile float s[256];
    float x = in[i];
    s[threadIdx.x] = 0;
    for (int k = 0; k < 50; ++k) {
        if ((k + threadIdx.x) % 2 == 0) s[threadIdx.x] = x;
        x = x * 0.5f + 1;
    }
    out[i] = s[threadIdx.x];
}

int main() {
    static float in[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof in);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    iterate<<<N / 256, 256>>>(d_in, d_out);
    cudaDeviceSynchronize();
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
