// What a device does at the same time: independent loads of one thread, arithmetic of few warps, warps that wait for
// one that works, blocks that have nothing to do, and what both halves of L2 hold. tests/model/h100.md has what it
// printed.
#include <cuda/barrier>

#include <cstdint>

#include "timing.cuh"

namespace {

using Word = std::uint32_t;
constexpr int sms = 132;

Word *memory, *out;

// A turn of the loop adds `count` words of different lines.
template <int count>
__global__ void add_lines(const Word* values, int turns, Word* sum) {
    Word total = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < count; ++i) total += values[(turn * count + i) * 32 + threadIdx.x];
    *sum = total;
}

// The same with the place of each word loaded first.
template <int count>
__global__ void add_found(const Word* places, const Word* values, int turns, Word* sum) {
    Word total = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < count; ++i) total += values[places[(turn * count + i) * 32] + threadIdx.x];
    *sum = total;
}

template <int count>
void rows_of_loads() {
    constexpr int loads = 4096;
    print_time("%d loads a turn, one thread", kernel_ms([] { add_lines<count><<<1, 1>>>(memory, loads / count, out); }),
               count);
    print_time("%d loads a turn, a warp", kernel_ms([] { add_lines<count><<<1, 32>>>(memory, loads / count, out); }),
               count);
    print_time("%d loads of indices a turn, one thread",
               kernel_ms([] { add_found<count><<<1, 1>>>(memory, memory, loads / count, out); }), count);
}

enum class Work { product, root, both };

// `chains` values that do not depend on each other.
template <Work work, int chains>
__global__ void compute(float first, float never, float* result) {
    float values[chains];
    for (int c = 0; c < chains; ++c) values[c] = first + threadIdx.x + c;
#pragma unroll 4
    for (int step = 0; step < 4096; ++step)
        for (int c = 0; c < chains; ++c) {
            if (work != Work::root) values[c] = values[c] * 0.5f + first;
            if (work != Work::product) values[c] = rsqrtf(values[c]);
        }
    float sum = 0;
    for (int c = 0; c < chains; ++c) sum += values[c];
    if (sum == never) *result = sum;
}

template <Work work, int chains>
void rows_of_arithmetic(const char* what) {
    for (const int blocks : {1, sms})
        for (const int size : {32, 256, 1024})
            print_time("%s, %d chains, %d blocks of %d", kernel_ms([&] {
                           compute<work, chains><<<blocks, size>>>(1, -7, reinterpret_cast<float*>(out));
                       }),
                       what, chains, blocks, size);
}

template <class Barrier>
__device__ void work_alone(Word steps, Word* result, Barrier wait) {
    Word value = threadIdx.x;
    for (int phase = 0; phase < 64; ++phase) {
        if (threadIdx.x < 32)
            for (Word i = 0; i < steps; ++i) value = value * 5 + i;
        wait();
    }
    *result = value;
}

__global__ void wait_for_one_warp(Word steps, Word* result) {
    work_alone(steps, result, [] { __syncthreads(); });
}

__global__ void wait_at_object(Word steps, Word* result) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
    auto* barrier = reinterpret_cast<Barrier*>(storage);
    if (threadIdx.x == 0) init(barrier, blockDim.x);
    __syncthreads();
    work_alone(steps, result, [&] { barrier->arrive_and_wait(); });
}

__global__ void one_block_works(const Word* values, int turns, Word* sum) {
    if (blockIdx.x != 0) return;
    Word total = 0;
    for (int i = 0; i < turns; ++i) total += values[i * 1024 + threadIdx.x] ^ total;
    sum[threadIdx.x] = total;
}

template <bool by_remainder>
__global__ void reduce_in_tree(const Word* values, Word* sums) {
    __shared__ Word tile[1024];
    tile[threadIdx.x] = values[blockIdx.x * 1024 + threadIdx.x];
    for (unsigned apart = 1; apart < 1024; apart *= 2) {
        __syncthreads();
        if (by_remainder) {
            if (threadIdx.x % (2 * apart) == 0) tile[threadIdx.x] += tile[threadIdx.x + apart];
        } else if (const unsigned at = 2 * apart * threadIdx.x; at < 1024) {
            tile[at] += tile[at + apart];
        }
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

// Each thread adds 16 to a word: of its own, or one that each warp of the device has, or one for all.
__global__ void add_by_swaps(Word* words, int apart, int warps_apart) {
    const int warp = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
    Word* word = words + warp * warps_apart + threadIdx.x % 32 * apart;
    for (int i = 0; i < 16; ++i)
        for (Word old = *word, seen; (seen = atomicCAS(word, old, old + 1)) != old; old = seen) {
        }
}

__global__ void read_all(const uint4* values, std::size_t count, Word* sum) {
    Word total = 0;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        total += values[i].x ^ values[i].w;
    if (total == 1) *sum = total;
}

__global__ void read_any(const Word* values, Word words, Word* sum) {
    Word x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, total = 0;
    for (int i = 0; i < 16; ++i) {
        x = x * 1664525u + 1013904223u;
        total += values[(x >> 8) % words];
    }
    if (total == 1) *sum = total;
}

template <class Operation>
__global__ void repeat(long long first, long long other, long long never, Operation operation, long long* result) {
    long long values[4], sum = 0;
    for (int c = 0; c < 4; ++c) values[c] = first + threadIdx.x % 32 + c;
    for (int step = 0; step < 512; ++step)
        for (int c = 0; c < 4; ++c) values[c] = operation(values[c], other);
    for (int c = 0; c < 4; ++c) sum += values[c];
    if (sum == never) *result = sum;
}

#define LONG(what, expression)                                                                           \
    print_time("long, " what, kernel_ms([] {                                                             \
                   repeat<<<8 * sms, 256>>>(                                                             \
                       1, 3, -987654321, [] __device__(long long x, long long y) { return expression; }, \
                       reinterpret_cast<long long*>(out));                                               \
               }))

void rows_of_copies() {
    for (const int mib : {1, 16, 128}) {
        const std::size_t bytes = std::size_t(mib) << 20;
        std::vector<char> pageable(bytes, 1);
        void* pinned;
        CHECK(cudaMallocHost(&pinned, bytes));
        for (void* host : {static_cast<void*>(pageable.data()), pinned}) {
            const char* kind = host == pinned ? "pinned" : "pageable";
            print_time("%d MiB up, %s", kernel_ms([&] { CHECK(cudaMemcpy(memory, host, bytes, cudaMemcpyDefault)); }),
                       mib, kind);
            print_time("%d MiB down, %s", kernel_ms([&] { CHECK(cudaMemcpy(host, memory, bytes, cudaMemcpyDefault)); }),
                       mib, kind);
        }
        CHECK(cudaFreeHost(pinned));
    }
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, std::size_t{1} << 28));
    CHECK(cudaMemset(memory, 0, std::size_t{1} << 28));
    std::vector<Word> places(4096 * 32);
    for (Word i = 0; i < 4096; ++i) places[i * 32] = (i * 5 + 1234) % 4096 * 32;
    CHECK(cudaMemcpy(memory, places.data(), places.size() * sizeof(Word), cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, std::size_t{1} << 16));
    rows_of_loads<1>();
    rows_of_loads<2>();
    rows_of_loads<4>();
    rows_of_loads<8>();
    rows_of_loads<16>();
    rows_of_loads<32>();
    rows_of_arithmetic<Work::product, 1>("products");
    rows_of_arithmetic<Work::product, 4>("products");
    rows_of_arithmetic<Work::root, 1>("roots");
    rows_of_arithmetic<Work::both, 4>("both");
    for (const int size : {32, 256, 1024}) {
        print_time("barrier, one of %d threads' warps works",
                   kernel_ms([&] { wait_for_one_warp<<<1, size>>>(64, out); }), size);
        print_time("cuda::barrier, one of %d threads' warps works",
                   kernel_ms([&] { wait_at_object<<<1, size>>>(64, out); }), size);
    }
    print_time("one block of 1056 works", kernel_ms([] { one_block_works<<<8 * sms, 1024>>>(memory, 4096, out); }));
    print_time("tree in shared memory, by remainder",
               kernel_ms([] { reduce_in_tree<true><<<8192, 1024>>>(memory, out); }));
    print_time("tree in shared memory, strided", kernel_ms([] { reduce_in_tree<false><<<8192, 1024>>>(memory, out); }));
    for (const int blocks : {1, sms})
        for (const int warps : {1, 4, 16}) {
            print_time("swaps, %d blocks of %d warps, own words",
                       kernel_ms([&] { add_by_swaps<<<blocks, 32 * warps>>>(memory, 1, 32); }), blocks, warps);
            print_time("swaps, %d blocks of %d warps, a word each warp",
                       kernel_ms([&] { add_by_swaps<<<blocks, 32 * warps>>>(memory, 0, 32); }), blocks, warps);
            print_time("swaps, %d blocks of %d warps, the same 32 words",
                       kernel_ms([&] { add_by_swaps<<<blocks, 32 * warps>>>(memory, 1, 0); }), blocks, warps);
        }
    for (const int mib : {8, 16, 24, 32, 36, 38, 40, 42, 44, 48, 64, 128, 256}) {
        const std::size_t bytes = std::size_t(mib) << 20;
        print_time("%d MiB again, all",
                   kernel_ms([&] { read_all<<<8 * sms, 256>>>(reinterpret_cast<uint4*>(memory), bytes / 16, out); }),
                   mib);
        print_time("%d MiB again, any words",
                   kernel_ms([&] { read_any<<<8 * sms, 256>>>(memory, static_cast<Word>(bytes / 4), out); }), mib);
    }
    LONG("exclusive or", (x ^ y) * 3);
    LONG("shift", (x << 3) ^ y);
    LONG("shift by a variable", (x >> (y & 63)) + y);
    LONG("smaller", (x < y ? x : y) + x);
    LONG("comparison", x < y ? x + 7 : y);
    LONG("absolute value", llabs(x) - y);
    rows_of_copies();
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}
