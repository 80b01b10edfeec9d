// What one request of a warp costs a multiprocessor's L1 and the device's L2, by how many lines and sectors it asks
// for: loads that find everything in L1, and stores of parts of sectors. tests/model/h100.md has what it printed.
#include <cstdint>

#include "timing.cuh"

namespace {

using Word = std::uint32_t;
constexpr int sms = 132;

Word *memory, *out;

// By assembly, so that each load is done, through L1.
__device__ Word load(const Word* from) {
    Word value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}
__device__ Word load_two(const Word* from) {
    Word value, other;
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(value), "=r"(other) : "l"(from));
    return value ^ other;
}
__device__ Word load_four(const Word* from) {
    Word x, y, z, w;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(from));
    return x ^ y ^ z ^ w;
}

// All warps load from the same 512 lines, 16 places of 32; a request takes `sectors` sectors of each of `lines` lines.
template <bool two>
__global__ void load_lines(const Word* values, int lines, int sectors, int turns, int places, Word* sum) {
    const int lane = threadIdx.x % 32, line = lane % lines, sector = lane / lines % sectors;
    const Word* from = values + line * 32 + sector * 8;
    Word total = 0;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const Word* at = from + ((turn * 8 + i) & places) * 1024;
            total += two ? load_two(at) : load(at);
        }
    if (total == 1) *sum = total;
}

// A warp's lanes load four words each, of one run or `apart` words apart.
__global__ void load_fours(const Word* values, int apart, int turns, int places, Word* sum) {
    const Word* from = values + threadIdx.x % 32 * apart;
    Word total = 0;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < 8; ++i) total += load_four(from + ((turn * 8 + i) & places) * 1024);
    if (total == 1) *sum = total;
}

// A thread stores `count` of the `size` words that are its own, one after the other.
__global__ void store_own(Word* values, int size, int count) {
    const std::size_t first = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size;
    for (int i = 0; i < count; ++i) values[first + i] = i;
}

// Stores the same words, each thread's next one after all threads' last: the device's L2 has the rest meanwhile.
__global__ void store_round(Word* values, int size, int i) {
    values[(blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size + i] = i;
}

// The same with loads: a thread adds to `count` of its words.
__global__ void add_own(Word* values, int size, int count) {
    const std::size_t first = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size;
    for (int i = 0; i < count; ++i) values[first + i] += 5;
}

__global__ void store_fours(uint4* values, int size, int count) {
    const std::size_t first = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size;
    for (int i = 0; i < count; ++i) values[first + i] = {1, 2, 3, 4};
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, std::size_t{1} << 28));
    CHECK(cudaMemset(memory, 0, std::size_t{1} << 28));
    CHECK(cudaMalloc(&out, 4));
    constexpr int turns = 256, places = 15;
    for (const int lines : {1, 2, 4, 8, 16, 32})
        for (int sectors = 1; sectors <= 4 && lines * sectors <= 32; sectors *= 2)
            print_time("loads of %d sectors in each of %d lines", kernel_ms([&] {
                           load_lines<false><<<2 * sms, 1024>>>(memory, lines, sectors, turns, places, out);
                       }),
                       sectors, lines);
    for (const int lines : {8, 16, 32})
        print_time("loads of 8 bytes in each of %d lines",
                   kernel_ms([&] { load_lines<true><<<2 * sms, 1024>>>(memory, lines, 1, turns, places, out); }),
                   lines);
    for (const int apart : {0, 4, 8, 32})
        print_time("loads of 16 bytes, %d words apart",
                   kernel_ms([&] { load_fours<<<2 * sms, 1024>>>(memory, apart, turns, places, out); }), apart);
    for (const int mib : {16, 128}) {
        const int words = mib << 18;
        for (const int size : {1, 2, 4, 8, 16, 32})
            print_time("%d MiB, stores of %d own words",
                       kernel_ms([&] { store_own<<<words / size / 256, 256>>>(memory, size, size); }), mib, size);
        for (const int count : {1, 2, 3, 6})
            print_time("%d MiB, stores of %d of 8 words",
                       kernel_ms([&] { store_own<<<words / 8 / 256, 256>>>(memory, 8, count); }), mib, count);
        print_time("%d MiB, stores of 1 of 32 words",
                   kernel_ms([&] { store_own<<<words / 32 / 256, 256>>>(memory, 32, 1); }), mib);
        for (const int size : {2, 8})
            print_time("%d MiB, stores of %d words in rounds", kernel_ms([&] {
                           for (int i = 0; i < size; ++i) store_round<<<words / size / 256, 256>>>(memory, size, i);
                       }),
                       mib, size);
        for (const int count : {1, 3, 8})
            print_time("%d MiB, sums of %d of 8 words",
                       kernel_ms([&] { add_own<<<words / 8 / 256, 256>>>(memory, 8, count); }), mib, count);
        for (const int size : {1, 2, 4, 8})
            print_time("%d MiB, stores of %d own fours of words", kernel_ms([&] {
                           store_fours<<<words / 4 / size / 256, 256>>>(reinterpret_cast<uint4*>(memory), size, size);
                       }),
                       mib, size);
    }
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}
