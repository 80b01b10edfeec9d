// Nothing is copied to d_a, and its elements go through functions before they are used.
struct Pair {
    float first, second;
};

__device__ __noinline__ float passed(float v) { return v; }
__device__ __noinline__ Pair paired(float a, float b) { return {b, a}; }
__device__ __noinline__ float twice(float v) {
    return 2 * v;  // expect: initcheck/global (other: +4)
}

__global__ void use_in_function(const float* a, float* c) {
    c[threadIdx.x] = twice(a[threadIdx.x]);
}

__global__ void use_result(const float* a, float* c) {
    float v = passed(a[threadIdx.x]);
    c[threadIdx.x] = v + 1;  // expect: initcheck/global (other: -1)
}

__global__ void use_member(const float* a, float* c) {
    Pair pair = paired(a[threadIdx.x], 1);
    c[threadIdx.x] = pair.first + 1;
    if (threadIdx.x == 0) c[0] = pair.second + 1;  // expect: initcheck/global (other: -2)
}

int main() {
    float *d_a, *d_c;
    cudaMalloc(&d_a, 32 * sizeof(float));
    cudaMalloc(&d_c, 32 * sizeof(float));
    use_in_function<<<1, 32>>>(d_a, d_c);
    use_result<<<1, 32>>>(d_a, d_c);
    use_member<<<1, 32>>>(d_a, d_c);
    cudaDeviceSynchronize();
    cudaFree(d_a);
    cudaFree(d_c);
    return 0;
}
