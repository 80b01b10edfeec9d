// Host code fills an array of the device.
__global__ void twice(int* a) { a[threadIdx.x] *= 2; }

int main() {
    int a[32] = {}, *d_a;
    cudaMalloc(&d_a, sizeof a);
    for (int i = 0; i < 32; ++i)
        d_a[i] = i;  // expect: launch/host-dereference
    twice<<<1, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    return a[31] != 62;
}
