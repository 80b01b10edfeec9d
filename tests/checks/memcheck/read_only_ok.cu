// A kernel writes to a __constant__ array through a cast.
__constant__ int table[4];
__device__ int variable[4];
__device__ __noinline__ void put(int* p, int v) { *p = v; }
__global__ void set(int i) { put(variable + i, table[i]); }

int main() {
    set<<<1, 1>>>(2);
    return cudaDeviceSynchronize() != cudaSuccess;
}
