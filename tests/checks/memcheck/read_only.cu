// A kernel writes to a __constant__ array through a cast.
__constant__ int table[4];
__device__ __noinline__ void put(int* p, int v) { *p = v; }  // expect: memcheck/read-only
__global__ void set(int i) { put(const_cast<int*>(table) + i, i); }

int main() {
    set<<<1, 1>>>(2);
    return cudaDeviceSynchronize() != cudaSuccess;
}
