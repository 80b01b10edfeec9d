// The same with cudaMemcpy between two arrays.
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // expect: initcheck/global
}

int main() {
    int out[32], *d_a, *d_b, *d_out;
    cudaMalloc(&d_a, sizeof out), cudaMalloc(&d_b, sizeof out), cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_b, 0, sizeof out);
    cudaMemcpy(d_b, d_a, sizeof out, cudaMemcpyDeviceToDevice);
    twice<<<1, 32>>>(d_b, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_a), cudaFree(d_b), cudaFree(d_out);
    for (int v : out)
        if (v != 0) return 1;
    return 0;
}
