// Host code reads through a device pointer.
__global__ void fill(int* a) { a[threadIdx.x] = threadIdx.x; }

int main() {
    int a[32], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<1, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    int last = d_a[31];  // expect: launch/host-dereference
    cudaFree(d_a);
    return last != 31;
}
