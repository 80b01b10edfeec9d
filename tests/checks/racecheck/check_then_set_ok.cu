// "Only the first one": between the look and the store another block looks.
__global__ void first(int* done, int* winners) {
    if (atomicCAS(done, 0, 1) == 0) {
        atomicAdd(winners, 1);
    }
}

int main() {
    int out, *d_done, *d_winners;
    cudaMalloc(&d_done, sizeof out);
    cudaMalloc(&d_winners, sizeof out);
    cudaMemset(d_done, 0, sizeof out);
    cudaMemset(d_winners, 0, sizeof out);
    first<<<4, 1>>>(d_done, d_winners);
    cudaMemcpy(&out, d_winners, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_done);
    cudaFree(d_winners);
    return out != 1;
}
