// A counter in shared memory that nobody set to 0.
__global__ void count(const int* in, int* out) {
    __shared__ int n;
    __syncthreads();
    if (in[threadIdx.x] > 10) atomicAdd(&n, 1);  // expect: initcheck/shared
    __syncthreads();
    if (threadIdx.x == 0) *out = n;  // may: initcheck/shared
}

int main() {
    int in[64], out[1], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    count<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 53;
}
