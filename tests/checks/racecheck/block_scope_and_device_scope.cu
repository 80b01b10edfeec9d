// One side is atomic for all, the other one only for its own block.
__global__ void best(int* most) {
    if (blockIdx.x == 0)
        atomicMax_block(most, threadIdx.x);
    else
        atomicMax(most, threadIdx.x);  // expect: racecheck/scope (other: -2)
}

int main() {
    int most = 0, *d_most;
    cudaMalloc(&d_most, sizeof most);
    cudaMemset(d_most, 0, sizeof most);
    best<<<2, 64>>>(d_most);
    cudaMemcpy(&most, d_most, sizeof most, cudaMemcpyDeviceToHost);
    cudaFree(d_most);
    return most == 63 ? 0 : 1;
}
