// How many warps' instructions of each kind a device issues, and what loads cost that depend on each other or lie far
// apart. tests/model/h100.md has what it printed.
#include <cstdint>

#include "timing.cuh"

namespace {

constexpr int threads = 256, blocks = 132 * 8, chains = 4, steps = 512;

// `operation` is applied to each of a thread's values, which do not depend on each other, again and again.
template <class T, class Operation>
__global__ void repeat(T* out, T first, T other, T never, Operation operation) {
    T values[chains];
    for (int c = 0; c < chains; ++c) values[c] = first + static_cast<T>(threadIdx.x % 32 + c);
    for (int step = 0; step < steps; ++step)
        for (int c = 0; c < chains; ++c) values[c] = operation(values[c], other);
    T sum = 0;
    for (int c = 0; c < chains; ++c) sum += values[c];
    if (sum == never) *out = sum;
}

void* memory;

template <class T, class Operation>
void of(const char* what, T first, T other, Operation operation) {
    const T never = static_cast<T>(-987654321);
    const double ms =
        kernel_ms([&] { repeat<<<blocks, threads>>>(static_cast<T*>(memory), first, other, never, operation); });
    row(what, "270,336 threads, 2048 each", ms, 1e-9 * blocks * threads / 32 * chains * steps, "10^9 warps a second");
}

#define OF(T, what, first, other, expression) \
    of<T>(what, first, other, [] __device__(T x, [[maybe_unused]] T y) -> T { return expression; })

void arithmetic_rows() {
    OF(float, "float, x + y", 1, 2, x + y);
    OF(float, "float, x * y + x", 1, 0.5f, x* y + x);
    OF(float, "float, smaller of x and y", 1, 2, fminf(x, y) + x);
    OF(float, "float, y / x", 1, 2, y / x);
    OF(float, "float, fast y / x", 1, 2, __fdividef(y, x));
    OF(float, "float, 1 / x", 1, 2, 1 / x);
    OF(float, "float, square root", 1, 2, sqrtf(x));
    OF(float, "float, reciprocal square root", 1, 2, rsqrtf(x));
    OF(float, "float, exponential", 0, 2, expf(-x));
    OF(float, "float, fast exponential", 0, 2, __expf(-x));
    OF(float, "float, logarithm", 3, 2, logf(x) + y);
    OF(float, "float, sine", 1, 2, sinf(x));
    OF(float, "float, fast sine", 1, 2, __sinf(x));
    OF(float, "float, power", 1, 0.5f, powf(x, y));
    OF(float, "float, to int and back", 1, 2, static_cast<float>(static_cast<int>(x)) + y);
    OF(int, "int, x + y, and exclusive or", 1, 3, (x + y) ^ x);
    OF(int, "int, x * y", 1, 3, x* y);
    OF(int, "int, x * y + x", 1, 3, x* y + x);
    OF(int, "int, y / x", 1, 1 << 30, y / x + 5);
    OF(int, "int, y % x", 1, 1 << 30, y % x + 5);
    OF(int, "int, x % 7", 1, 1 << 30, x % 7 + y);
    OF(unsigned, "unsigned, y / x", 1, 1u << 31, y / x + 5);
    OF(unsigned, "unsigned, y % x", 1, 1u << 31, y % x + 5);
    OF(unsigned, "unsigned, x >> 1", 1, 1u << 31, (x >> 1) + y);
    OF(unsigned, "unsigned, bits that are set", 1, 1u << 31, __popc(x) + y);
    OF(long long, "64 bits, x + y, and exclusive or", 1, 3, (x + y) ^ x);
    OF(long long, "64 bits, x * y", 1, 3, x* y);
    OF(long long, "64 bits, y / x", 1, 1ll << 60, y / x + 5);
    OF(double, "double, x + y", 1, 2, x + y);
    OF(double, "double, x * y + x", 1, 0.5, x* y + x);
    OF(double, "double, y / x", 1, 2, y / x);
    OF(double, "double, square root", 1, 2, sqrt(x));
    OF(int, "shuffle", 1, 3, __shfl_xor_sync(~0u, x, 1) + y);
    OF(int, "ballot", 1, 3, static_cast<int>(__ballot_sync(~0u, x > y)));
}

// One thread follows pointers; each load waits for the one before.
__global__ void follow(const std::uint32_t* next, int loads, std::uint32_t* out) {
    std::uint32_t at = 0;
    for (int i = 0; i < loads; ++i) at = next[at];
    *out = at;
}
// Each lane loads from a sector of its own.
__global__ void gather(const std::uint32_t* values, std::uint32_t words, int loads, std::uint32_t* out) {
    std::uint32_t x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, sum = 0;
    for (int i = 0; i < loads; ++i) {
        x = x * 1664525u + 1013904223u;
        sum += values[(x >> 8) % words];
    }
    if (sum == 1) *out = sum;
}

void memory_rows() {
    auto* words = static_cast<std::uint32_t*>(memory);
    for (const int kib : {16, 128, 1 << 10, 16 << 10, 128 << 10}) {
        const std::size_t count = std::size_t{256} * kib;
        // A sector in every 128 bytes, in an order that no prefetcher knows.
        std::vector<std::uint32_t> next(count);
        const std::size_t lines = count / 32;
        for (std::size_t i = 0; i < lines; ++i) next[i * 32] = static_cast<std::uint32_t>((i * 5 + 12345) % lines * 32);
        CHECK(cudaMemcpy(words, next.data(), count * sizeof(std::uint32_t), cudaMemcpyHostToDevice));
        constexpr int loads = 4096;
        char what[60];
        std::snprintf(what, sizeof what, "pointers in %d KiB", kib);
        const double ms = kernel_ms([&] { follow<<<1, 1>>>(words, loads, words + count); });
        row(what, "4096 loads", ms, 1e-9 * loads, "10^9 loads a second");
    }
    for (const int mib : {1, 8, 32, 128, 512}) {
        constexpr int loads = 16;
        char what[60];
        std::snprintf(what, sizeof what, "any words of %d MiB", mib);
        const double ms = kernel_ms([&] {
            gather<<<blocks, threads>>>(words, static_cast<std::uint32_t>(mib) << 18, loads, words + (1 << 29) / 4);
        });
        row(what, "270,336 threads, 16 each", ms, 1e-9 * blocks * threads * loads, "10^9 loads a second");
    }
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, (std::size_t{1} << 29) + 256));
    CHECK(cudaMemset(memory, 0, std::size_t{1} << 29));
    arithmetic_rows();
    memory_rows();
    CHECK(cudaFree(memory));
}
