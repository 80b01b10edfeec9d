// arguments: --instructions 100000
// A lane keeps the lock while it waits for the whole warp: the others wait for the lock.
__device__ int lock;
__global__ void count(volatile int* counter) {
    while (atomicCAS(&lock, 0, 1) != 0) {}  // expect: launch/runaway
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    __syncwarp();
    atomicExch(&lock, 0);
}

int main() {
    int out[1], *d_out;
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    count<<<1, 32>>>(d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    if (error != cudaSuccess) return 2;
    return out[0] != 32;
}
