// Streams work on pieces of the same arrays, that end in the middle of a word; all add to one counter atomically, and
// read the same table.
__global__ void step(const unsigned char* in, unsigned char* out, int n, const unsigned char* table, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = table[in[i]];
    atomicAdd(count, 1);
}

int main() {
    const int n = 1003, streams = 4, piece = (n + streams - 1) / streams;
    unsigned char *h, *in, *out, *table;
    int *count, counted = 0;
    cudaMallocHost(&h, n);
    cudaMalloc(&in, n);
    cudaMalloc(&out, n);
    cudaMalloc(&table, 256);
    cudaMalloc(&count, sizeof(int));
    for (int i = 0; i < n; ++i) h[i] = i % 256;
    cudaMemset(table, 7, 256);
    cudaMemset(count, 0, sizeof(int));
    cudaDeviceSynchronize();
    cudaStream_t stream[streams];
    for (int s = 0; s < streams; ++s) {
        cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking);
        const int first = s * piece, size = first + piece < n ? piece : n - first;
        cudaMemcpyAsync(in + first, h + first, size, cudaMemcpyHostToDevice, stream[s]);
        step<<<(size + 255) / 256, 256, 0, stream[s]>>>(in + first, out + first, size, table, count);
        cudaMemcpyAsync(h + first, out + first, size, cudaMemcpyDeviceToHost, stream[s]);
    }
    for (auto& s : stream) {
        cudaStreamSynchronize(s);
        cudaStreamDestroy(s);
    }
    cudaMemcpy(&counted, count, sizeof counted, cudaMemcpyDeviceToHost);
    const bool right = counted == n && h[0] == 7 && h[n - 1] == 7;
    cudaFree(in);
    cudaFree(out);
    cudaFree(table);
    cudaFree(count);
    cudaFreeHost(h);
    return right ? 0 : 1;
}
