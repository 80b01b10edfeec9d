// When a multiprocessor makes one of a warp's stores to the same sectors, before L2 sees them, and what a thread waits
// for that walks down a column. tests/model/h100.md has what it printed.
#include <cstdint>

#include "timing.cuh"

namespace {

using Word = std::uint32_t;
constexpr int mib = 16;
constexpr std::size_t bytes = std::size_t{mib} << 20;
char* memory;
Word* out;

__device__ void store(Word* to, Word value) { asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(value)); }
__device__ void store(uint2* to, Word value) { asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(to), "r"(value)); }
__device__ void store(uint4* to, Word value) {
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(to), "r"(value));
}

// A thread stores all that is its own; `steps` additions that wait for each other lie between two stores.
template <class T, int size>
__global__ void store_own(T* values, int steps) {
    T* own = values + (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size;
    Word value = threadIdx.x;
#pragma unroll
    for (int i = 0; i < size; ++i) {
        store(own + i, value + i);
        for (int step = 0; step < steps; ++step) value = value * 3 + step;
    }
}

// With a load of other memory between two stores, for which the next one waits.
template <int size>
__global__ void store_and_load(Word* values, const Word* others) {
    Word* own = values + (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size;
    Word value = threadIdx.x;
#pragma unroll
    for (int i = 0; i < size; ++i) {
        store(own + i, value);
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(others + threadIdx.x + 32 * (value & 1)));
    }
}

// Each thread copies all that is its own: what L2 sends lies beside what it receives.
template <class T, int size>
__global__ void copy_own(const T* __restrict__ from, T* to) {
    const std::size_t first = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * size;
    T own[size];
#pragma unroll
    for (int i = 0; i < size; ++i) own[i] = from[first + i];
#pragma unroll
    for (int i = 0; i < size; ++i) to[first + i] = own[i];
}

template <class T, int size>
void own(const char* what) {
    for (const int steps : {0, 8, 64})
        print_time("stores of %d own %s, %d steps between",
                   kernel_ms([&] { store_own<T, size><<<bytes / sizeof(T) / size / 256, 256>>>((T*)memory, steps); }),
                   size, what, steps);
    const auto half = reinterpret_cast<T*>(memory + bytes);
    print_time("copies of %d own %s",
               kernel_ms([&] { copy_own<T, size><<<bytes / sizeof(T) / size / 256, 256>>>(half, (T*)memory); }), size,
               what);
}

template <int size>
void with_loads() {
    print_time("stores of %d own words, loads between",
               kernel_ms([&] { store_and_load<size><<<bytes / 4 / size / 256, 256>>>((Word*)memory, out); }), size);
}

constexpr int pitch = 2048;

enum class Walk { loads, stores, copies, in_place };

// A thread walks down a column. Each load waits for the one before: what is loaded is zero.
template <Walk walk>
__global__ void walk_columns(const Word* from, Word* to, int rows) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    Word sum = 0;
    for (int y = 0; y < rows; ++y) {
        const int at = y * pitch + x;
        if (walk != Walk::stores) sum += from[at + (walk == Walk::loads ? sum : 0)];
        if (walk != Walk::loads) to[at] = sum;
    }
    if (walk == Walk::loads) to[x] = sum;
}

template <Walk walk>
void columns(const char* what) {
    for (const int size : {1, 4, 8, 16, 24})
        for (const int threads : {64, 512}) {
            const int rows = size * (1 << 18) / pitch;
            Word *from = (Word*)memory,
                 *to = walk == Walk::in_place ? from : (Word*)(memory + (static_cast<std::size_t>(size) << 20));
            print_time("%d MiB, %s down columns, blocks of %d",
                       kernel_ms([&] { walk_columns<walk><<<pitch / threads, threads>>>(from, to, rows); }), size, what,
                       threads);
        }
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, 4 * bytes));
    CHECK(cudaMalloc(&out, 1 << 12));
    CHECK(cudaMemset(memory, 0, 4 * bytes));
    CHECK(cudaMemset(out, 0, 1 << 12));
    own<Word, 1>("words"), own<Word, 2>("words"), own<Word, 4>("words"), own<Word, 8>("words");
    own<Word, 16>("words"), own<Word, 32>("words");
    own<uint2, 2>("pairs"), own<uint2, 4>("pairs"), own<uint2, 8>("pairs");
    own<uint4, 1>("fours"), own<uint4, 2>("fours"), own<uint4, 4>("fours");
    with_loads<2>(), with_loads<4>(), with_loads<8>();
    CHECK(cudaMemset(memory, 0, 4 * bytes));
    columns<Walk::loads>("loads"), columns<Walk::copies>("copies"), columns<Walk::in_place>("sums");
    columns<Walk::stores>("stores");
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}
