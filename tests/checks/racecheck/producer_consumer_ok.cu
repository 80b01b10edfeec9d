// Block 0 hands data to block 1 through a flag.
__device__ int data, ready;
__global__ void hand_over(const int* in, int* out) {
    if (blockIdx.x == 0) {
        data = in[0];
        __threadfence();
        atomicExch(&ready, 1);
    } else {
        while (atomicAdd(&ready, 0) == 0) {}
        __threadfence();
        *out = data;
    }
}

int main() {
    int in[1], out[1], *d_in, *d_out;
    for (int i = 0; i < 1; ++i) in[i] = 42;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    hand_over<<<2, 1>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 42;
}
