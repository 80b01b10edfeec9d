// The block that comes last adds up the parts of all: each part must be visible before its block is counted.
__device__ unsigned arrived;
__global__ void sum(const int* in, int* parts, int* out) {
    __shared__ bool last;
    int part = __reduce_add_sync(0xffffffff, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    part = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;  // expect: racecheck/global (other: -5)
    part = __reduce_add_sync(0xffffffff, part);
    if (threadIdx.x == 0) *out = part;
}

int main() {
    int in[256], out, *d_in, *d_parts, *d_out;
    for (int i = 0; i < 256; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in), cudaMalloc(&d_parts, 8 * sizeof(int)), cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<8, 32>>>(d_in, d_parts, d_out);
    cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in), cudaFree(d_parts), cudaFree(d_out);
    return out != 255 * 128;
}
