// Freed before the kernel that uses it.
__global__ void add(const int* one, int* a) { a[threadIdx.x] += *one; }

int main() {
    int a[32] = {}, one = 1, *d_a, *d_one;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_one, sizeof one);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_one, &one, sizeof one, cudaMemcpyHostToDevice);
    add<<<1, 32>>>(d_one, d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_one);
    cudaFree(d_a);
    for (int v : a)
        if (v != 1) return 1;
    return error != cudaSuccess;
}
