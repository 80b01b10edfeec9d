// The launch fails, the copy brings back what was there before, and nobody looks.
__global__ void twice(int* a) { a[threadIdx.x] *= 2; }

int main() {
    int a[64] = {3}, *d_a;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    // expect: launch/configuration, launch/unchecked
    twice<<<1, 6400>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    return a[0] != 6;
}
