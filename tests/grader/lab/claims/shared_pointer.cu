// A shared pointer that every thread sets: of 64 allocations, one is left. Lab reverse.
#include <cstdio>

#include "check.cuh"

__global__ void allocate(int n, int* lost) {
    __shared__ int* p;
    int* const mine = static_cast<int*>(malloc(n * sizeof(int)));
    p = mine;
    __syncthreads();
    if (p != mine) atomicAdd(lost, 1);
    if (!__isGlobal(p)) atomicAdd(lost, 1000);
}

int main() {
    int lost = 0;
    int* d_lost;
    CHECK(cudaMalloc(&d_lost, sizeof(int)));
    CHECK(cudaMemset(d_lost, 0, sizeof(int)));
    allocate<<<1, 64>>>(8, d_lost);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&lost, d_lost, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("%d of 64 allocations are lost\n", lost);
    CHECK(cudaFree(d_lost));
}
