// Warp 0 produces, warp 1 consumes: a barrier of their own for 64 threads.
__device__ void arrive(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
__global__ void pass(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < 4; ++i) {
            if (i > 0) wait(2);
            s[t] = in[32 * i + t];
            arrive(1);
        }
    } else if (threadIdx.x < 64) {
        for (int i = 0; i < 4; ++i) {
            wait(1);
            if (i < 3) arrive(2);
            out[32 * i + t] = s[31 - t];  // expect: racecheck/shared (other: -7)
        }
    }
}

int main() {
    int in[128], out[128], *d_in, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    pass<<<1, 96>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 128; ++i)
        if (out[i] != i / 32 * 32 + 31 - i % 32) return 1;
    return 0;
}
