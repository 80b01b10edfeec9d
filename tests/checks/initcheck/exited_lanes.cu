// Lanes that have left the kernel give no value to a shuffle.
__global__ void sum(const int* in, int n, int* out) {
    int t = threadIdx.x;
    if (t >= n) return;
    int v = in[t];
    for (int k = 16; k > 0; k /= 2)
        // expect: initcheck/absent-lane
        // may: synccheck/lane-mask
        v += __shfl_down_sync(0xffffffff, v, k);
    if (t == 0) *out = v;
}

int main() {
    int in[20], out[1], *d_in, *d_out;
    for (int i = 0; i < 20; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<1, 32>>>(d_in, 20, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 19 * 10;
}
