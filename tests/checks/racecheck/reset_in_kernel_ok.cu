// One thread clears the counter in the kernel that counts: other blocks do not wait for it.
__global__ void count(const int* in, int* counter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 2) atomicAdd(counter, 1);
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
    return out != 128;
}
