// Shuffles need no shared memory and no barrier.
__global__ void sum(const int* in, int* out) {
    __shared__ int parts[4];
    int t = threadIdx.x, v = in[t];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);
    if (t % 32 == 0) parts[t / 32] = v;
    __syncthreads();
    if (t == 0) *out = parts[0] + parts[1] + parts[2] + parts[3];
}

int main() {
    int in[128], out[1], *d_in, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<1, 128>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 127 * 64;
}
