// A byte offset before the cast: the last lane is out of bounds too, but the others show what is wrong.
__global__ void sum(const unsigned char* data, unsigned* out) {
    const uint4* words = reinterpret_cast<const uint4*>(data + 1);
    const uint4 v = words[threadIdx.x];  // expect: memcheck/misaligned
    atomicAdd(out, v.x + v.y + v.z + v.w);
}

int main() {
    unsigned char* d_data;
    unsigned* d_out;
    cudaMalloc(&d_data, 32 * sizeof(uint4));
    cudaMalloc(&d_out, sizeof(unsigned));
    cudaMemset(d_data, 1, 32 * sizeof(uint4));
    cudaMemset(d_out, 0, sizeof(unsigned));
    sum<<<1, 32>>>(d_data, d_out);
    return cudaDeviceSynchronize() == cudaSuccess;
}
