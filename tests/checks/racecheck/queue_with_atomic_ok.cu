// An atomic gives each thread its own place.
__global__ void evens(const int* in, int* out, int* count) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (v % 2 == 0) out[atomicAdd(count, 1)] = v;
}

int main() {
    int in[128], out[64], *d_in, *d_out, *d_count;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in), cudaMalloc(&d_out, sizeof out), cudaMalloc(&d_count, sizeof(int));
    cudaMemset(d_count, 0, sizeof(int));
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    evens<<<2, 64>>>(d_in, d_out, d_count);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in), cudaFree(d_out), cudaFree(d_count);
    int sum = 0;
    for (int v : out) sum += v;
    return sum != 63 * 64;
}
