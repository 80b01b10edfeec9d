// The sum is read when this block has added to it: others may still be at it.
__device__ void add(float* address, float value) {
    int* as_int = (int*)address;
    int old = *as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(as_int, assumed, __float_as_int(value + __int_as_float(assumed)));  // expect: racecheck/global (other: +6)
    } while (assumed != old);
}

__global__ void sum(float* result, float* seen) {
    add(result, 1);
    seen[blockIdx.x] = *result;
}

int main() {
    float out = 0, *d_sum, *d_seen;
    cudaMalloc(&d_sum, sizeof out);
    cudaMalloc(&d_seen, 64 * sizeof out);
    cudaMemset(d_sum, 0, sizeof out);
    sum<<<64, 1>>>(d_sum, d_seen);
    cudaMemcpy(&out, d_sum, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_sum);
    cudaFree(d_seen);
    return out != 64;
}
