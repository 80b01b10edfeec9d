// Atomics of block scope, though all blocks count in the same place.
__global__ void count(int* total) {
    atomicAdd_block(total, 1);  // expect: racecheck/scope (other: +0)
}

int main() {
    int total = 0, *d_total;
    cudaMalloc(&d_total, sizeof total);
    cudaMemset(d_total, 0, sizeof total);
    count<<<4, 64>>>(d_total);
    cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
    cudaFree(d_total);
    return total == 256 ? 0 : 1;
}
