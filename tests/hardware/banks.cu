// What a load costs a multiprocessor by where its lanes' words lie: in how many lines and banks of L1, whether L1 has
// them, and the same of constant memory. tests/model/h100.md has what it printed.
#include <cstdint>

#include "timing.cuh"

namespace {

using Word = std::uint32_t;
constexpr int sms = 132, turns = 256, constants = 4096;

Word *memory, *out;
__constant__ Word table[constants];

__device__ Word load(const Word* from) {
    Word value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}

__host__ __device__ unsigned mix(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Lane i loads word i of row i * rows / 32.
__global__ void load_slanted(const Word* values, int rows, int pitch, int places, Word* sum) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const Word* from = values + lane * rows / 32 * pitch + lane;
    Word total = 0;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < 8; ++i) total += load(from + ((turn * 8 + i) & places) * 32);
    if (total == 1) *sum = total;
}

// `apart` is 0: the same eight random words of the first so many in each turn.
__global__ void load_random(const Word* values, unsigned words, int apart, Word* sum) {
    const Word* from[8];
    for (unsigned i = 0; i < 8; ++i) from[i] = values + mix(threadIdx.x * 8 + i) % words;
    Word total = 0;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (const Word* each : from) total += load(each + turn * apart);
    if (total == 1) *sum = total;
}

// Each lane goes to other random words of the first 2^bits.
__global__ void wander(const Word* values, int bits, Word* sum) {
    unsigned at = mix(blockIdx.x * blockDim.x + threadIdx.x + 7);
    Word total = 0;
    for (int turn = 0; turn < turns / 4; ++turn)
#pragma unroll
        for (int i = 0; i < 8; ++i) total += values[(at = at * 1664525u + 1013904223u) >> (32 - bits)];
    if (total == 12345) *sum = total;
}

// As many words from each place, one place after the other; a warp's lanes at `ways` places.
template <int words>
__global__ void load_constants(int ways, int mask, Word* sum) {
    int at = static_cast<int>(threadIdx.x) % ways * words;
    Word total = 0;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            at = (at + ways * words) & mask;
            if (words == 4) {
                const uint4 value = *reinterpret_cast<const uint4*>(table + at);
                total += value.x ^ value.y ^ value.z ^ value.w;
            } else {
                total += table[at];
            }
        }
    if (total == 12345) *sum = total;
}

__global__ void follow_constants(int steps, Word* last) {
    Word at = threadIdx.x / 32;
    for (int i = 0; i < steps; ++i) at = table[at % constants];
    *last = at;
}

template <int words>
struct Row {
    float value[words];
};
template <int words>
__constant__ Row<words> rows_of[256];

// All threads read the same rows, one after the other: a polynomial of each thread's own x.
template <int words>
__global__ void sum_constants(int count, float* sum) {
    float total = 0;
    const float x = threadIdx.x;
    for (int turn = 0; turn < turns / 8; ++turn)
        for (int i = 0; i < count; ++i)
#pragma unroll
            for (int k = 0; k < words; ++k) total = total * x + rows_of<words>[i].value[k];
    if (total == 12345) *sum = total;
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, std::size_t{1} << 28));
    CHECK(cudaMemset(memory, 0, std::size_t{1} << 28));
    CHECK(cudaMalloc(&out, 4));
    const auto measure = [](const char* format, double ms, int first, int second = 0) {
        char what[100];
        std::snprintf(what, sizeof what, format, first, second);
        row(what, "", ms);
    };
    for (const int rows : {1, 4, 8, 16, 32})
        for (const int pitch : {2048, 2080, 2056})
            measure("slanted %d rows, pitch %d",
                    kernel_ms([&] { load_slanted<<<2 * sms, 1024>>>(memory, rows, pitch, 15, out); }), rows, pitch);
    for (const int words : {32, 64, 256, 1024, 2048, 8192, 32768})
        measure("random words of %d", kernel_ms([&] { load_random<<<2 * sms, 1024>>>(memory, words, 0, out); }), words);
    for (const int bits : {13, 15, 17, 20, 22, 24, 26})
        for (const int blocks : {4, sms})
            measure("a word each lane, %d KiB, %d SMs", kernel_ms([&] { wander<<<blocks, 1024>>>(memory, bits, out); }),
                    (1 << bits) / 256, blocks);
    for (const int kib : {1, 16}) {
        measure("a constant, %d KiB", kernel_ms([&] { load_constants<1><<<2 * sms, 1024>>>(1, kib * 256 - 1, out); }),
                kib);
        measure("four constants, %d KiB",
                kernel_ms([&] { load_constants<4><<<2 * sms, 1024>>>(1, kib * 256 - 4, out); }), kib);
    }
    for (const int ways : {2, 4, 8, 16, 32})
        measure("constants at %d places",
                kernel_ms([&] { load_constants<1><<<2 * sms, 1024>>>(ways, constants - 1, out); }), ways);
    measure("%d constants that wait for each other", kernel_ms([&] { follow_constants<<<1, 32>>>(4096, out); }), 4096);
    const auto polynomial = [&](auto kernel, int words) {
        measure("%d constants a turn of %d", kernel_ms([&] { kernel<<<2 * sms, 1024>>>(256, (float*)out); }), words,
                256);
    };
    polynomial(sum_constants<1>, 1), polynomial(sum_constants<2>, 2), polynomial(sum_constants<3>, 3);
    polynomial(sum_constants<4>, 4), polynomial(sum_constants<8>, 8);
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}
