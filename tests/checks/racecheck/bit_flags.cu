// Setting a bit reads and writes the whole word.
__global__ void flags(const int* in, unsigned* out) {
    __shared__ unsigned bits[4];
    int t = threadIdx.x;
    if (t < 4) bits[t] = 0;
    __syncthreads();
    // expect: racecheck/shared (other: +0)
    // may: racecheck/warp (other: +0)
    if (in[t]) bits[t % 4] |= 1u << (t / 4);
    __syncthreads();
    if (t < 4) out[t] = bits[t];
}

int main() {
    int in[128], *d_in;
    unsigned out[4], *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i % 3;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    flags<<<1, 128>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 128; ++i)
        if ((out[i % 4] >> (i / 4) & 1) != (i % 3 != 0)) return 1;
    return 0;
}
