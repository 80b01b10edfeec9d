// Votes, shuffles and inlined device functions: block reductions open scopes that shadow outer registers.
__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

__global__ void votes(const float* in, float* sums, int* counts, int n) {
    __shared__ float partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0.0f;
    int positive = __syncthreads_count(value > 0.0f), all = __syncthreads_and(value > 1.0f),
        any = __syncthreads_or(value > 7.0f);
    float sum = warp_sum(value);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) {
            atomicAdd(sums, sum);
            counts[blockIdx.x] = positive + 1000 * all + 2000 * any;
        }
    }
}
