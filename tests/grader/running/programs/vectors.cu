// An ordinary program with its own main: for tests of `warpgrade run`.
//   vectors            adds 1,000 numbers; exit status 0 when the sums are right
//   vectors -s N       exits with N
//   vectors launches N launches an empty kernel N times
//   vectors echo       copies standard input to standard output
//   vectors crash      reads a device pointer on the host
//   vectors beyond     stores behind the end of an allocation
//   vectors forever    waits for what never comes
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
    if (i == 0) printf("added %d numbers\n", n);
}
__global__ void nothing() {}
__global__ void wait_for(volatile float* c) {
    while (*c != 5) {
    }
}
__global__ void store(float* c, int i) { c[i] = 1; }

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "-s")) return atoi(argv[2]);
    if (!strcmp(mode, "echo")) {
        for (int c; (c = getchar()) != EOF;) putchar(c);
        return 0;
    }
    const int n = 1000;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
    float *da, *db, *dc;
    const size_t bytes = n * sizeof(float);
    if (cudaMalloc(&da, bytes) || cudaMalloc(&db, bytes) || cudaMalloc(&dc, bytes)) return 9;
    if (!strcmp(mode, "crash")) return static_cast<int>(*da);
    if (!strcmp(mode, "beyond")) {
        store<<<1, 1>>>(dc, n + 1);
        return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 5 : 0;
    }
    if (!strcmp(mode, "forever")) {
        wait_for<<<1, 1>>>(dc);
        return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 6 : 0;
    }
    if (!strcmp(mode, "launches")) {
        for (int i = 0; i < atoi(argv[2]); ++i) nothing<<<1, 32>>>();
        return cudaDeviceSynchronize() == cudaSuccess ? 0 : 8;
    }
    cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (c[i] != 3.0f * i) return 1;
    printf("right\n");
    return 0;
}
