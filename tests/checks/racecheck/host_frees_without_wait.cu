// The host reads page-locked memory while the copy to it may still be under way, and nothing waits before it is freed.
#include <cstdio>

int main() {
    int *d, *h;
    cudaMalloc(&d, 256 * sizeof(int));
    cudaMallocHost(&h, 256 * sizeof(int));
    cudaMemset(d, 0, 256 * sizeof(int));
    cudaMemcpyAsync(h, d, 256 * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", h[255]);
    cudaFreeHost(h);  // expect: racecheck/host (other: -2)
    cudaFree(d);
    return 0;
}
