// Three of four components have values: loading all four is fine, using the fourth is not.
__global__ void fill(float* a) { if (threadIdx.x % 4 < 3) a[threadIdx.x] = threadIdx.x; }
__global__ void sums(const float4* in, float* out) {
    float4 v = in[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z;
}

int main() {
    float out[16], *d_in, *d_out;
    cudaMalloc(&d_in, 64 * sizeof(float));
    cudaMalloc(&d_out, sizeof out);
    fill<<<1, 64>>>(d_in);
    sums<<<1, 16>>>(reinterpret_cast<float4*>(d_in), d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 16; ++i)
        if (out[i] != 12 * i + 3) return 1;
    return 0;
}
