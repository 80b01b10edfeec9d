// The same with a wait for the kernel; and for a copy to page-locked memory.
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
    int *x, *h;
    cudaMallocManaged(&x, 256 * sizeof(int));
    cudaMallocHost(&h, 256 * sizeof(int));
    fill<<<1, 256>>>(x);
    cudaDeviceSynchronize();
    const bool right = x[255] == 255;
    cudaMemcpyAsync(h, x, 256 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaStreamSynchronize(nullptr);
    const bool copied = h[255] == 255;
    cudaFree(x);
    cudaFreeHost(h);
    return right && copied ? 0 : 1;
}
