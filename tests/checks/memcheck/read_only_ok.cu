// A kernel writes to a __constant__ array, whose address the host asked for.
__device__ int table[4] = {1, 2, 3, 4};
__global__ void increment(int* p) { p[threadIdx.x] += 1; }

int main() {
    void* p;
    cudaError_t error = cudaGetSymbolAddress(&p, table);
    increment<<<1, 4>>>(static_cast<int*>(p));
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return error != cudaSuccess;
}
