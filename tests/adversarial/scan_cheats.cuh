// What hostile submissions of lab scan share. It stands behind the starter.
#include <cstdio>
#include <cstring>
#include <vector>
struct Dev {
    int *x = nullptr, *o = nullptr;
    Dev(const int* h, int n, int r) {
        if (!n) return;
        CHECK(cudaMalloc(&x, n * 4));
        CHECK(cudaMalloc(&o, r * 4));
        CHECK(cudaMemcpy(x, h, n * 4, cudaMemcpyHostToDevice));
    }
    void down(int* out, int r) {
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out, o, r * 4, cudaMemcpyDeviceToHost));
        cudaFree(x);
        cudaFree(o);
    }
};
__global__ void ident(const int* x, int* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = x[i];
}
static int* up(const std::vector<int>& v) {
    int* p;
    CHECK(cudaMalloc(&p, v.size() * 4));
    CHECK(cudaMemcpy(p, v.data(), v.size() * 4, cudaMemcpyHostToDevice));
    return p;
}
static void hscan(const int* x, int* r, int n, int size) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i % size == 0) s = 0;
        s += x[i];
        r[i] = s;
    }
}
