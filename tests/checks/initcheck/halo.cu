// A tile with a halo: its two outermost elements are left out.
__global__ void blur(const int* in, int* out) {
    __shared__ int tile[66];
    int t = threadIdx.x;
    tile[t + 1] = in[t];
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];  // expect: initcheck/shared
}

int main() {
    int in[64], out[64], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    blur<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != (i == 0 ? 1 : i == 63 ? 188 : 3 * i)) return 1;
    return 0;
}
