// The blocks of a cooperative launch must all fit on the device at once.
__global__ void fill(int* a) { if (threadIdx.x == 0 && blockIdx.x < 4) a[blockIdx.x] = 1; }

int main() {
    int a[4], *d_a;
    cudaMalloc(&d_a, sizeof a);
    void* arguments[] = {&d_a};
    int blocks = 100000;
    // expect: launch/configuration
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(fill), blocks, 1024, arguments);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int v : a)
        if (v != 1) return 1;
    return 0;
}
