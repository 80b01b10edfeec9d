// Counting with ++ instead of an atomic.
__global__ void count(const int* in, int* counter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 64 == 0) ++*counter;  // expect: racecheck/global (other: +0)
}

int main() {
    int in[256], out, *d_in, *d_out;
    for (int i = 0; i < 256; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    count<<<4, 64>>>(d_in, d_out);
    cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out != 4;
}
