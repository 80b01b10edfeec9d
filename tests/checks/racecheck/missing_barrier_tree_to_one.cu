// A tree reduction without any barrier in its loop: between warps first, inside a warp in the last five steps.
__global__ void sum(const int* in, int* out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        // expect: racecheck/shared (other: +0)
        if (t < k) s[t] += s[t + k];  // may: racecheck/warp (other: +0)
    }
    if (t == 0) *out = s[0];
}

int main() {
    int in[256], out[1], *d_in, *d_out;
    for (int i = 0; i < 256; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<1, 256>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 255 * 128;
}
