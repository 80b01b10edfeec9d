// The last argument does not fit the pointers.
__global__ void add(int* a) { a[threadIdx.x] += 1; }

int main() {
    int a[32] = {}, *d_a;
    cudaMalloc(&d_a, sizeof a);
    cudaMemset(d_a, 0, sizeof a);
    cudaError_t error = cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    add<<<1, 32>>>(d_a);
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    return error != cudaSuccess || a[0] != 1;
}
