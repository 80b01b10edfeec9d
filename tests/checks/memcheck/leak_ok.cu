// Allocated in each round, freed once.
__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int* d_a = nullptr;
    for (int round = 0; round < 3; ++round) {
        cudaMalloc(&d_a, 32 * sizeof(int));
        fill<<<1, 32>>>(d_a);
        cudaFree(d_a);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
