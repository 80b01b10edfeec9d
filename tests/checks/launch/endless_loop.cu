// arguments: --instructions 100000
// The loop's variable never changes.
__global__ void sum(int* in, int* out) {
    int i = 0, total = 0;
    while (i < 10) total += atomicAdd(&in[i], 0);  // expect: launch/runaway
    *out = total;
}

int main() {
    int in[10], out[1], *d_in, *d_out;
    for (int i = 0; i < 10; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<1, 1>>>(d_in, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    if (error != cudaSuccess) return 2;
    return out[0] != 45;
}
