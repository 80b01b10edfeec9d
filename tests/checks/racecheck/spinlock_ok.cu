// A lock between blocks: without fences the lock orders nothing but itself.
__device__ int lock;
__global__ void count(int* counter) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    int out[1], *d_out;
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    count<<<8, 1>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    return out[0] != 8;
}
