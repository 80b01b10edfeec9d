// The host waits for the wrong stream, and memcpy reads what the other one's kernel writes. So does an assignment.
#include <cstring>

__managed__ int last;

__global__ void fill(int* x) {
    x[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) last = 255;
}

int main() {
    int *y, *z, copy[256];
    cudaMallocManaged(&y, sizeof copy);
    cudaStream_t a, b;
    cudaStreamCreate(&a), cudaStreamCreate(&b);
    cudaMalloc(&z, sizeof copy);
    cudaMemsetAsync(z, 0, sizeof copy, a);
    fill<<<1, 256, 0, b>>>(y);
    cudaStreamSynchronize(a);
    std::memcpy(copy, y, sizeof copy);  // expect: racecheck/host (other: -2)
    last = 1;  // expect: racecheck/host (other: -3)
    cudaStreamSynchronize(b);
    cudaStreamDestroy(a), cudaStreamDestroy(b);
    cudaFree(y), cudaFree(z);
    return copy[255] == 255 ? 0 : 1;
}
