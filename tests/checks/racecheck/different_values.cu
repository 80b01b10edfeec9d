// The place of a match: several threads write different values.
__global__ void find(const int* in, int* out) {
    __shared__ int place;
    int t = threadIdx.x;
    if (t == 0) place = 128;
    __syncthreads();
    if (in[t] % 40 == 7) place = t;  // expect: racecheck/shared (other: +0)
    __syncthreads();
    if (t == 0) *out = place;
}

int main() {
    int in[128], out[1], *d_in, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    find<<<1, 128>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 7;
}
