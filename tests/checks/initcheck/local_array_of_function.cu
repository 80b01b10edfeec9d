// The array of a function that is called twice starts anew each time.
__device__ __noinline__ int last_of(const int* in, int n, bool fill) {
    int copy[8];
    if (fill)
        for (int i = 0; i < n; ++i) copy[i] = in[i];
    return copy[in[n - 1]] + 1;  // expect: initcheck/local (other: +0)
}

__global__ void twice(const int* in, int* out, int n) {
    int sum = 0;
    for (int i = 0; i < 2; ++i) sum += last_of(in, n, i == 0);
    out[threadIdx.x] = sum;
}

int main() {
    int in[4] = {0, 1, 2, 3}, *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, 32 * sizeof(int));
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(d_in, d_out, 4);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_in);
    cudaFree(d_out);
    return error == cudaSuccess ? 0 : 1;
}
