// A counter that nobody set to 0.
__global__ void count(const int* in, int* out) {
    if (in[threadIdx.x] % 2) atomicAdd(out, 1);  // expect: initcheck/global
}

int main() {
    int in[64], out[1], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    count<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 32;
}
