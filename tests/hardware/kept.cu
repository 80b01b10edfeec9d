// What L1 keeps of stores: each kernel stores, and reads what others of its block have stored. tests/model/kept.ncu.tsv
// has what Nsight Compute counted: ncu --metrics METRICS kept, where METRICS are the file's, with
// l1tex__t_sectors_pipe_lsu_mem_global_op_ before the first three and lts__t_sectors_srcunit_tex_op_ before the others.
#include "timing.cuh"

namespace {

constexpr int blocks = 64, threads = 256;

__device__ int own() { return blockIdx.x * threads + threadIdx.x; }
__device__ int other() { return blockIdx.x * threads + (threadIdx.x ^ 33); }

__global__ void stored(int* p, int* out) {
    p[own()] = own();
    __syncthreads();
    out[own()] = p[other()];
}

// One of so many words, and so a part of each sector.
template <int of>
__global__ void partly_stored(int* p, int* out) {
    if (own() % of == 0) p[own()] = own();
    __syncthreads();
    out[own()] = p[other()];
}

template <int of>
__global__ void changed(int* p, int* out) {
    const int value = p[own()];
    __syncthreads();
    if (own() % of == 0) p[own()] = value + 1;
    __syncthreads();
    out[own()] = p[other()];
}

}  // namespace

int main() {
    int *p, *out;
    const std::size_t bytes = blocks * threads * sizeof(int);
    CHECK(cudaMalloc(&p, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemset(p, 0, bytes));
    stored<<<blocks, threads>>>(p, out);
    partly_stored<2><<<blocks, threads>>>(p, out);
    partly_stored<8><<<blocks, threads>>>(p, out);
    changed<1><<<blocks, threads>>>(p, out);
    changed<2><<<blocks, threads>>>(p, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(p));
    CHECK(cudaFree(out));
}
