// The last steps of a reduction inside one warp, as if its threads ran in lockstep.
__global__ void sum(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        int x = t + k < 32 ? s[t + k] : 0;
        // expect: racecheck/warp (other: -3)
        // may: racecheck/warp (other: +0)
        s[t] += x;
    }
    if (t == 0) *out = s[0];
}

int main() {
    int in[32], out[1], *d_in, *d_out;
    for (int i = 0; i < 32; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<1, 32>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 31 * 16;
}
