// Constants with a value of their own, by a copy, by an address; one that is not read needs none.
__constant__ float weights[4];
__constant__ int shift, step, unused;
__constant__ int two = 2, none = 0;
__constant__ float zeros[4] = {};
__global__ void scale(float* x, bool offset) {
    x[threadIdx.x] *= weights[threadIdx.x % 4];
    x[threadIdx.x] += shift + step * two + none + zeros[threadIdx.x % 4];
    if (offset) x[threadIdx.x] += unused;
}

int main() {
    float x[32] = {}, w[4] = {1, 2, 3, 4}, *d_x;
    int one = 1;
    void* address = nullptr;
    cudaMalloc(&d_x, sizeof x);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(weights, w, sizeof w);
    cudaGetSymbolAddress(&address, shift);
    cudaMemcpy(address, &one, sizeof one, cudaMemcpyHostToDevice);
    cudaGetSymbolAddress(&address, step);
    cudaMemset(address, 0, sizeof step);
    scale<<<1, 32>>>(d_x, false);
    cudaFree(d_x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
