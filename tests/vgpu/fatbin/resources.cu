// Kernels whose resources the cubin tells.
__global__ void shared_tile(const float* in, float* out) {
    __shared__ float tile[33][32];
    tile[threadIdx.x][threadIdx.y] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

__global__ void dynamic_shared(float* out) {
    extern __shared__ float s[];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void local_array(int* out, int n) {
    int counts[64];
    for (int i = 0; i < 64; ++i) counts[i] = 0;
    for (int i = 0; i < n; ++i) ++counts[out[i] & 63];
    out[threadIdx.x] = counts[threadIdx.x & 63];
}

__global__ void nothing() {}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__noinline__ __device__ float scaled(float x, float y) { return x * y + 1; }

// One of the two keeps registers on the stack.
__global__ void calls(int* out, float* values) {
    out[threadIdx.x] = fibonacci(out[threadIdx.x]);
    values[threadIdx.x] = scaled(values[threadIdx.x], 3);
}
