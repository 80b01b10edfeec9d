// The same with all of them destroyed. The thread's own default stream is nobody's to destroy.
__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int* d_a = nullptr;
    cudaStream_t streams[2];
    cudaEvent_t done;
    cudaMalloc(&d_a, 64 * sizeof(int));
    cudaMemsetAsync(d_a, 0, 64 * sizeof(int), cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    cudaEventCreate(&done);
    for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
    for (int i = 0; i < 2; ++i) fill<<<1, 32, 0, streams[i]>>>(d_a + 32 * i);
    cudaEventRecord(done, streams[0]);
    cudaEventSynchronize(done);
    cudaStreamSynchronize(streams[1]);
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
    cudaEventDestroy(done);
    return cudaFree(d_a) != cudaSuccess;
}
