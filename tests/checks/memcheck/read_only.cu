// A kernel writes to a __constant__ array through a cast.
__constant__ int table[4];
__global__ void set(int i) {
    const_cast<int*>(table)[i] = i;  // expect: memcheck/read-only
}

int main() {
    set<<<1, 1>>>(2);
    return cudaDeviceSynchronize() != cudaSuccess;
}
