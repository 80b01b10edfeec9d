// Memory from cudaHostAlloc is mapped, and so is what was registered.
#include <cstdlib>

__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int *a = nullptr, *b = static_cast<int*>(std::aligned_alloc(4096, 4096));
    void* d = nullptr;
    cudaHostAlloc(&a, 32 * sizeof(int), cudaHostAllocMapped);
    cudaHostRegister(b, 4096, cudaHostRegisterMapped);
    for (int* host : {a, b}) {
        cudaHostGetDevicePointer(&d, host, 0);
        fill<<<1, 32>>>(static_cast<int*>(d));
    }
    const cudaError_t error = cudaDeviceSynchronize();
    const bool right = a[31] == 1 && b[31] == 1;
    cudaHostUnregister(b);
    cudaFreeHost(a);
    std::free(b);
    return error != cudaSuccess || !right;
}
