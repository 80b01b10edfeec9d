// The host reads managed memory while the kernel that writes it may still run, and waits only then.
#include <cstdio>

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
    int* x;
    cudaMallocManaged(&x, 256 * sizeof(int));
    fill<<<1, 256>>>(x);
    std::printf("%d\n", x[255]);  // expect: racecheck/host (other: -1)
    cudaDeviceSynchronize();
    std::printf("%d\n", x[254]);
    cudaFree(x);
    return 0;
}
