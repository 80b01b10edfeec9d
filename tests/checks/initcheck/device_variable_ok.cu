// __device__ variables begin as 0, and cudaMemset, cudaMemcpyToSymbol and kernels all give values.
__device__ int total;
__device__ int factor;
__global__ void add() { atomicAdd(&total, threadIdx.x * factor); }

int main() {
    int two = 2, result;
    cudaMemcpyToSymbol(factor, &two, sizeof two);
    add<<<2, 32>>>();
    cudaMemcpyFromSymbol(&result, total, sizeof result);
    return result != 2 * 2 * 31 * 16;
}
