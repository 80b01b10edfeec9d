// A helper is called twice: the second call overwrites `parts` while slower warps read the first result.
__device__ int block_sum(int v) {
    __shared__ int parts[4];
    int t = threadIdx.x;
    v = __reduce_add_sync(0xffffffff, v);
    if (t % 32 == 0) parts[t / 32] = v;
    __syncthreads();
    // expect: racecheck/shared (other: -4)
    // may: racecheck/warp (other: -4)
    return parts[0] + parts[1] + parts[2] + parts[3];
}
__global__ void sums(const int* in, int* out) {
    int first = block_sum(in[threadIdx.x]), second = block_sum(2 * in[threadIdx.x]);
    if (threadIdx.x == 0) *out = first + second;
}

int main() {
    int in[128], out[1], *d_in, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sums<<<1, 128>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 3 * 127 * 64;
}
