// Each thread handles 32 neighbours: in one instruction a warp's accesses are 128 bytes apart.
const int N = 65536;
__global__ void twice(const float* in, float* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 32; ++j) {
        int i = 32 * t + j;
        out[i] = 2 * in[i];  // expect: advice/uncoalesced
    }
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    twice<<<N / 32 / 256, 256>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (out[i] != 2 * in[i]) return 1;
    return 0;
}
