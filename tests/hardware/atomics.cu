// What additions that meet cost, in global and in shared memory, and how fast blocks start.
// tests/model/h100.md has what it printed.
#include "timing.cuh"

namespace {

constexpr int threads = 256, blocks = 132 * 8, all_threads = blocks * threads;

// Which word a lane adds to. `Own` patterns give each warp words of its own.
struct Lanes {  // `distinct` words in each warp, `stride` words apart; all warps meet unless `own`
    int distinct, stride, own;
    __device__ unsigned operator()(unsigned thread, unsigned) const {
        return own * (thread / 32) * 32 * stride + thread % distinct * stride;
    }
};
struct PerBlock {
    __device__ unsigned operator()(unsigned thread, unsigned) const { return thread / threads * 32; }
};
struct Random {
    unsigned words;
    __device__ unsigned operator()(unsigned thread, unsigned step) const {
        unsigned x = thread * 2654435761u + step * 40503u;
        x ^= x >> 15;
        x *= 2246822519u;
        return (x ^ x >> 13) % words;
    }
};

struct RedInt {
    using Word = int;
    __device__ static int add(int* word) { return atomicAdd(word, 1), 0; }
};
struct AtomInt {
    using Word = int;
    __device__ static int add(int* word) { return atomicAdd(word, 1); }
};
struct RedFloat {
    using Word = float;
    __device__ static int add(float* word) { return atomicAdd(word, 1.0f), 0; }
};
struct MaxInt {
    using Word = int;
    __device__ static int add(int* word) { return atomicMax(word, static_cast<int>(threadIdx.x)), 0; }
};
struct RedLong {
    using Word = unsigned long long;
    __device__ static int add(unsigned long long* word) { return atomicAdd(word, 1ull), 0; }
};
struct CasInt {
    using Word = int;
    __device__ static int add(int* word) {
        int old = *static_cast<volatile int*>(word), seen;
        while ((seen = atomicCAS(word, old, old + 1)) != old) old = seen;
        return 0;
    }
};

template <class Op, class Pattern>
__global__ void in_global(typename Op::Word* words, int* sink, Pattern pattern, int steps) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int step = 0; step < steps; ++step) sum += Op::add(words + pattern(thread, step));
    if (sum == -1) *sink = sum;
}

template <class Op, class Pattern>
__global__ void in_shared(int* sink, Pattern pattern, int steps) {
    __shared__ typename Op::Word words[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0;
    __syncthreads();
    int sum = 0;
    for (int step = 0; step < steps; ++step) sum += Op::add(words + pattern(threadIdx.x, step));
    __syncthreads();
    if (sum + static_cast<int>(words[threadIdx.x]) == -1) *sink = sum;
}

__global__ void add_to_known_word(int* word, int steps) {  // the compiler adds once for the warp
    for (int step = 0; step < steps; ++step) atomicAdd(word, 1);
}

__global__ void empty() {}
__global__ void store_one(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

void* memory;
int* sink;

void print(const char* op, const char* pattern, double ms, double adds) {
    char what[120];
    std::snprintf(what, sizeof what, "%s, %s", op, pattern);
    row(what, "2^22 adds or more", ms, 1e-9 * adds, "10^9 a second");
}

template <class Op, class Pattern>
void global_row(const char* op, const char* name, Pattern pattern, int steps = 16) {
    using Word = typename Op::Word;
    const double ms =
        kernel_ms([&] { in_global<Op><<<blocks, threads>>>(static_cast<Word*>(memory), sink, pattern, steps); });
    print(op, name, ms, 1.0 * steps * all_threads);
}

template <class Op>
void global_rows(const char* op) {
    for (const int d : {1, 2, 4, 8, 16, 32}) {
        char name[60];
        std::snprintf(name, sizeof name, "%d of the warp's own words", d);
        global_row<Op>(op, name, Lanes{d, 1, 1});
    }
    global_row<Op>(op, "32 of the warp's own sectors", Lanes{32, 8, 1});
    for (const int d : {1, 2, 4, 8, 32}) {
        char name[60];
        std::snprintf(name, sizeof name, "%d words for all", d);
        global_row<Op>(op, name, Lanes{d, 1, 0});
    }
    for (const int d : {2, 8, 32}) {
        char name[60];
        std::snprintf(name, sizeof name, "%d lines for all", d);
        global_row<Op>(op, name, Lanes{d, 32, 0});
    }
    global_row<Op>(op, "a word for each block", PerBlock{});
    global_row<Op>(op, "any of 7 words", Random{7});
    global_row<Op>(op, "any of 256 words", Random{256});
    global_row<Op>(op, "any of 2^13 words", Random{1 << 13});
    global_row<Op>(op, "any of 2^20 words", Random{1 << 20});
}

template <class Op>
void shared_rows(const char* op, int steps) {
    const auto measure = [&](const char* name, auto pattern) {
        const double ms = kernel_ms([&] { in_shared<Op><<<blocks, threads>>>(sink, pattern, steps); });
        print(op, name, ms, 1.0 * steps * all_threads);
    };
    for (const int d : {1, 2, 4, 8, 16, 32}) {
        char name[60];
        std::snprintf(name, sizeof name, "%d words", d);
        measure(name, Lanes{d, 1, 0});
    }
    for (const int d : {2, 8, 32}) {
        char name[60];
        std::snprintf(name, sizeof name, "%d words of one bank", d);
        measure(name, Lanes{d, 32, 0});
    }
    measure("any of 7 words", Random{7});
    measure("any of 256 words", Random{256});
    measure("any of 1024 words", Random{1024});
}

void start_rows() {
    for (const int size : {32, 64, 128, 256, 512, 1024})
        for (const int count : {1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20}) {
            if (1ll * size * count > 1 << 26) continue;
            char what[80];
            std::snprintf(what, sizeof what, "empty, blocks of %d, %d blocks", size, count);
            row(what, "", kernel_ms([&] { empty<<<count, size>>>(); }), 1e-9 * count, "10^9 blocks a second");
            std::snprintf(what, sizeof what, "a store a thread, blocks of %d, %d blocks", size, count);
            row(what, "", kernel_ms([&] { store_one<<<count, size>>>(static_cast<float*>(memory)); }), 1e-9 * count,
                "10^9 blocks a second");
        }
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, std::size_t{1} << 28));
    CHECK(cudaMemset(memory, 0, std::size_t{1} << 28));
    CHECK(cudaMalloc(&sink, sizeof(int)));
    row("empty", "one block", kernel_ms([] { empty<<<1, 32>>>(); }));
    global_rows<RedInt>("int");
    global_rows<AtomInt>("int with its old value");
    global_rows<RedFloat>("float");
    global_rows<MaxInt>("int maximum");
    global_rows<RedLong>("64 bits");
    for (const int d : {1, 8, 32}) {
        char name[60];
        std::snprintf(name, sizeof name, "%d of the warp's own words", d);
        global_row<CasInt>("compare and swap", name, Lanes{d, 1, 1}, 4);
    }
    global_row<CasInt>("compare and swap", "any of 2^20 words", Random{1 << 20}, 4);
    print("int", "one word that the compiler knows",
          kernel_ms([] { add_to_known_word<<<blocks, threads>>>(static_cast<int*>(memory), 16); }), 16.0 * all_threads);
    shared_rows<RedInt>("shared int", 64);
    shared_rows<AtomInt>("shared int with its old value", 64);
    shared_rows<RedFloat>("shared float", 16);
    shared_rows<CasInt>("shared compare and swap", 16);
    start_rows();
}
