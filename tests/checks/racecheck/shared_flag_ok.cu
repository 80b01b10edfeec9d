// One warp hands data to another through a flag in shared memory: fences on both sides.
__global__ void hand_over(const int* in, int* out) {
    __shared__ int data, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = in[0];
        __threadfence_block();
        atomicExch(&ready, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&ready, 0) == 0) {}
        __threadfence_block();
        *out = data;
    }
}

int main() {
    int in[1], out[1], *d_in, *d_out;
    for (int i = 0; i < 1; ++i) in[i] = 42;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    hand_over<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 42;
}
