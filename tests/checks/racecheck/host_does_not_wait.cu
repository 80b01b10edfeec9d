// The host reads managed memory while the kernel that writes it may still run.
#include <cstdio>

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
    int* x;
    cudaMallocManaged(&x, 256 * sizeof(int));
    fill<<<1, 256>>>(x);
    std::printf("%d\n", x[255]);  // expect: racecheck/host (other: -1)
    cudaFree(x);
    return 0;
}
