// Lane 31 is in the other branch, so it has no value for this shuffle.
__global__ void get(int* a) {
    int v = a[threadIdx.x];
    if (v < 16) {
        v = __shfl_sync(0x0000ffff, v, 31);  // expect: initcheck/absent-lane
    } else {
        v = 0;
    }
    a[threadIdx.x] = v;
}

int main() {
    int a[32], *d_a;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    get<<<1, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 32; ++i)
        if (a[i] != (i < 16 ? 15 : 0)) return 1;
    return 0;
}
