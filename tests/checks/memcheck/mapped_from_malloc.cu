// Memory from malloc is not mapped.
#include <cstdlib>

__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int* a = static_cast<int*>(std::malloc(32 * sizeof(int)));
    void* d_a = nullptr;
    const cudaError_t error = cudaHostGetDevicePointer(&d_a, a, 0);  // expect: memcheck/unmapped-host
    if (error == cudaSuccess) fill<<<1, 32>>>(static_cast<int*>(d_a));
    std::free(a);
    return error == cudaSuccess;
}
