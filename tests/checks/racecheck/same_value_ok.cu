// All who find it write the same value: accepted, the result does not depend on who is first.
__global__ void contains(const int* in, int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (in[threadIdx.x] % 10 == 7) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}

int main() {
    int in[128], out[1], *d_in, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    contains<<<1, 128>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 1;
}
