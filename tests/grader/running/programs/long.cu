// Programs that take too long: for tests of `warpgrade run --budget`.
//   long blocks       10^9 blocks, each of which is soon done
//   long loop [behind] one block that never ends; with `behind`, the program is over meanwhile
//   long host         no kernel at all
//   long sum          32,768 blocks, each with its part of a sum
//   long again N      N launches that all do the same
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void work(unsigned* out) {
    unsigned x = blockIdx.x + threadIdx.x;
    for (int i = 0; i < 1000; ++i) x = (x ^ x >> 7) * 1664525u;
    if (x == 0) *out = 1;
}
__global__ void never_ends(volatile unsigned* out) {
    while (*out != 5) {
    }
}
__global__ void sum(unsigned* out) {
    atomicAdd(out, 1u);
    if (threadIdx.x == 0) atomicAdd(out + 1, blockIdx.x % 2);
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    unsigned *d, h[2];
    cudaMalloc(&d, 4096);
    cudaMemset(d, 0, 4096);
    if (!strcmp(mode, "host"))
        for (volatile int i = 0;; i = 1) {
        }
    if (!strcmp(mode, "blocks")) work<<<1'000'000'000, 1024>>>(d);
    if (!strcmp(mode, "loop")) never_ends<<<1, 1>>>(d);
    if (!strcmp(mode, "sum")) sum<<<32768, 64>>>(d);
    if (!strcmp(mode, "again"))
        for (int i = 0; i < atoi(argv[2]); ++i) work<<<1024, 256>>>(d);
    if (argc > 2) return 0;
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    if (!strcmp(mode, "sum")) printf("%u %u\n", h[0], h[1]);
    cudaFree(d);
}
