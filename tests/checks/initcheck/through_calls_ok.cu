// The same functions: of what is not copied, nothing is used.
struct Pair {
    float first, second;
};

__device__ __noinline__ float passed(float v) { return v; }
__device__ __noinline__ Pair paired(float a, float b) { return {b, a}; }
__device__ __noinline__ float twice(float v) { return 2 * v; }

__global__ void use(const float* a, float* c) {
    float unused = passed(a[32 + threadIdx.x]);
    Pair pair = paired(unused, a[threadIdx.x]);
    c[threadIdx.x] = twice(pair.first) + passed(1);
    c[32 + threadIdx.x] = pair.second;
}

int main() {
    float a[32], c[32], *d_a, *d_c;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, 64 * sizeof(float));
    cudaMalloc(&d_c, 64 * sizeof(float));
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    use<<<1, 32>>>(d_a, d_c);
    cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_c);
    for (int i = 0; i < 32; ++i)
        if (c[i] != 2 * i + 1) return 1;
    return 0;
}
