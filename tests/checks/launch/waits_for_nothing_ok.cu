// arguments: --instructions 100000
// A thread waits for a flag that nothing sets.
__global__ void wait(volatile int* flag, int* out) {
    if (threadIdx.x == 0) *flag = 1;
    while (*flag == 0) {}
    *out = 1;
}

int main() {
    int out, *d_flag, *d_out;
    cudaMalloc(&d_flag, sizeof out);
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_flag, 0, sizeof out);
    wait<<<1, 1>>>(d_flag, d_out);
    cudaError_t error = cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_flag);
    cudaFree(d_out);
    return error != cudaSuccess || out != 1;
}
