// How well a multiprocessor's loads, arithmetic and shared memory overlap if barriers part them, by the number of
// blocks that are there. tests/model/h100.md has what it printed.
#include <cstdint>

#include "timing.cuh"

namespace {

using Word = std::uint32_t;
constexpr int sms = 132, turns = 64, words = 1 << 21;
Word *memory, *out;

// In each turn a thread loads words from L2, then multiplies, then reads shared memory. With barriers, all of a block
// wait between these.
template <bool barriers>
__global__ void work(const Word* values, int loads, int products, int reads, Word* sum) {
    extern __shared__ Word tile[];
    const unsigned first = (blockIdx.x * 977u * blockDim.x + threadIdx.x) % words;
    Word total = 0, a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int turn = 0; turn < turns; ++turn) {
        Word brought = 0;
#pragma unroll 4
        for (int i = 0; i < loads; ++i)
            brought += __ldcg(values + (first + (turn * loads + i) * blockDim.x * 13) % words);
        tile[threadIdx.x] = brought;
        if (barriers) __syncthreads();
#pragma unroll 4
        for (int i = 0; i < products; ++i) {
            a = __float_as_uint(__fmaf_rn(__uint_as_float(a), 1.5f, 0.5f));
            b = __float_as_uint(__fmaf_rn(__uint_as_float(b), 1.5f, 0.5f));
            c = __float_as_uint(__fmaf_rn(__uint_as_float(c), 1.5f, 0.5f));
            d = __float_as_uint(__fmaf_rn(__uint_as_float(d), 1.5f, 0.5f));
        }
        if (barriers) __syncthreads();
#pragma unroll 4
        for (int i = 0; i < reads; ++i) total += tile[(threadIdx.x + 32 * i) % blockDim.x];
        if (barriers) __syncthreads();
    }
    if (total + a + b + c + d == 12345) *sum = total;
}

void rows(int loads, int products, int reads) {
    for (const int threads : {128, 256, 1024})
        for (const int resident : {1, 2, 4, 8}) {
            if (threads * resident > 2048) continue;
            const int shared = 200 * 1024 / resident;
            const auto time = [&](const char* what, auto kernel) {
                CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
                print_time("%d loads, %d products, %d reads, %d blocks of %d%s", kernel_ms([&] {
                               kernel<<<sms * resident, threads, shared>>>(memory, loads, products, reads, out);
                           }),
                           loads, 4 * products, reads, resident, threads, what);
            };
            time("", work<false>);
            time(", barriers", work<true>);
        }
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, words * sizeof(Word)));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemset(memory, 0, words * sizeof(Word)));
    rows(4, 0, 0), rows(0, 32, 0), rows(0, 0, 64), rows(4, 32, 0), rows(4, 0, 64), rows(0, 32, 64), rows(4, 32, 64);
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}
