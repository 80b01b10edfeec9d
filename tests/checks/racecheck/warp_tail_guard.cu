// One __syncwarp() a step is enough if nobody reads what is written in that step: hence `if (t < k)`.
__global__ void sum(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t], s[t + 32] = 0;
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        s[t] += s[t + k];  // expect: racecheck/warp (other: +0)
        __syncwarp();
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
