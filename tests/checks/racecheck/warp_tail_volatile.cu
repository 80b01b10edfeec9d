// The same with volatile, as in old books: it keeps the compiler from registers, and no thread waits.
__device__ void tail(volatile int* s, int t) {
    s[t] += s[t + 32];
    // expect: racecheck/warp (other: +0)
    // may: racecheck/warp (other: -3)
    for (int k = 16; k > 0; k /= 2) s[t] += s[t + k];
}
__global__ void sum(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) tail(s, t);
    if (t == 0) *out = s[0];
}

int main() {
    int in[64], out[1], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 63 * 32;
}
