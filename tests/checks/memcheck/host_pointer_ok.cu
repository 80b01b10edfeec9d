// The kernel gets the host's array.
#include <cstdlib>

__global__ void add(const int* b, int* a) {
    a[threadIdx.x] += b[threadIdx.x];
}

int main() {
    int a[64], *d_a, *d_b, *b = static_cast<int*>(malloc(sizeof a));
    for (int i = 0; i < 64; ++i) a[i] = b[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof a, cudaMemcpyHostToDevice);
    add<<<1, 64>>>(d_b, d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    free(b);
    for (int i = 0; i < 64; ++i)
        if (error != cudaSuccess || a[i] != 2 * i) return 1;
    return 0;
}
