// A branch on an element of a thread's own array that nothing has set.
__global__ void pick(const int* in, int* out, int n) {
    bool seen[8];
    for (int i = 0; i < n; ++i) seen[in[i]] = true;
    int count = 0;
    for (int i = 0; i < 8; ++i)
        if (seen[in[i % n] + i / n])  // expect: initcheck/local (other: +0)
            count += out[i];
    out[threadIdx.x] = count;
}

int main() {
    int in[4] = {0, 1, 2, 3}, *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, 32 * sizeof(int));
    cudaMemset(d_out, 0, 32 * sizeof(int));
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    pick<<<1, 1>>>(d_in, d_out, 4);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_in);
    cudaFree(d_out);
    return error == cudaSuccess ? 0 : 1;
}
