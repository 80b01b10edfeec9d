// Streams and events that nobody destroys.
__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int* d_a = nullptr;
    cudaStream_t streams[2];
    cudaEvent_t done;
    cudaMalloc(&d_a, 64 * sizeof(int));
    cudaEventCreate(&done);                                         // expect: memcheck/leaked-handle
    for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);  // expect: memcheck/leaked-handle
    for (int i = 0; i < 2; ++i) fill<<<1, 32, 0, streams[i]>>>(d_a + 32 * i);
    cudaEventRecord(done, streams[0]);
    cudaEventSynchronize(done);
    cudaStreamSynchronize(streams[1]);
    cudaStreamDestroy(streams[0]);
    return cudaFree(d_a) != cudaSuccess;
}
