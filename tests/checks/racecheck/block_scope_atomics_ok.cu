// Atomics of block scope where they are enough: each block has its own counters, in global and in shared memory, also
// side by side; one block alone; the next launch goes on; all blocks together by atomics for all.
#include <cuda/atomic>

__global__ void per_block(int* counters, int* total, int* of_system) {
    __shared__ int local;
    if (threadIdx.x == 0) local = 0;
    __syncthreads();
    atomicAdd_block(&local, 1);
    atomicAdd_block(&counters[blockIdx.x], 1);
    atomicMax_block(&counters[4 + blockIdx.x], threadIdx.x);
    atomicCAS_block(&counters[8 + blockIdx.x], 0, 5);
    cuda::atomic_ref<int, cuda::thread_scope_block> mine(counters[12 + blockIdx.x]);
    mine.fetch_add(1, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> all(total[1]);
    all.fetch_add(1, cuda::std::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&total[0], local);
    atomicAdd_system(of_system, 1);
}

__global__ void one_block(int* counters, int n) {
    for (int i = 0; i < n; ++i) atomicAdd_block(&counters[i], 1);
}

int main() {
    int counters[16], total[2], *d_counters, *d_total, *d_system;
    cudaMalloc(&d_counters, sizeof counters);
    cudaMalloc(&d_total, sizeof total);
    cudaMalloc(&d_system, sizeof(int));
    cudaMemset(d_counters, 0, sizeof counters);
    cudaMemset(d_total, 0, sizeof total);
    cudaMemset(d_system, 0, sizeof(int));
    per_block<<<4, 64>>>(d_counters, d_total, d_system);
    one_block<<<1, 64>>>(d_counters, 16);
    per_block<<<4, 64>>>(d_counters, d_total, d_system);
    cudaMemcpy(counters, d_counters, sizeof counters, cudaMemcpyDeviceToHost);
    cudaMemcpy(total, d_total, sizeof total, cudaMemcpyDeviceToHost);
    cudaFree(d_counters);
    cudaFree(d_total);
    cudaFree(d_system);
    return counters[3] == 192 && counters[12] == 192 && total[0] == 512 && total[1] == 512 ? 0 : 1;
}
