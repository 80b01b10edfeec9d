// Each thread of a warp takes the lock in turn: fine since Volta.
__device__ int lock;
__global__ void count(volatile int* counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            *counter = *counter + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}

int main() {
    int out[1], *d_out;
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    count<<<2, 32>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    return out[0] != 64;
}
