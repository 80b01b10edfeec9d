// A kernel that launches kernels, which the virtual GPU refuses, and one that does not.
#include <cstdio>

__global__ void child(int* p) { p[threadIdx.x] = 1; }

__global__ void parent(int* p) { child<<<1, 32>>>(p); }

int main() {
    int* p = nullptr;
    int first = 0;
    cudaMalloc(&p, 32 * sizeof(int));
    child<<<1, 32>>>(p);
    cudaMemcpy(&first, p, sizeof first, cudaMemcpyDeviceToHost);
    std::printf("child: %d\n", first);
    parent<<<1, 1>>>(p);
    std::printf("parent: %s\n", cudaGetErrorName(cudaGetLastError()));
}
