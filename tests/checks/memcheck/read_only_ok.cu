// A kernel writes to a __constant__ array through a cast.
__constant__ int table[4];
__device__ int variable[4];
__global__ void set(int i) {
    variable[i] = table[i] + i;
}

int main() {
    set<<<1, 1>>>(2);
    return cudaDeviceSynchronize() != cudaSuccess;
}
