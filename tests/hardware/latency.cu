// How long a load takes whose result the next one needs, for each memory, and what is left of the calls that once
// configured the caches.
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "check.cuh"

namespace {

constexpr int STEPS = 4096;
constexpr std::size_t MORE_THAN_L2 = 256 << 20;

enum class From { shared, l1, l2 };

// One thread follows a chain of indices, `turns` times; the last turn counts.
template <From FROM>
__global__ void chase(const uint32_t* chain, int count, int turns, long long* cycles, uint32_t* last) {
    extern __shared__ uint32_t near[];
    if (FROM == From::shared) {
        for (int i = 0; i < count; ++i) near[i] = chain[i];
    }
    uint32_t at = 0;
    for (int turn = 0; turn < turns; ++turn) {
        const long long begin = clock64();
        for (int i = 0; i < STEPS; ++i) {
            if (FROM == From::shared) at = near[at];
            if (FROM == From::l1) at = __ldca(&chain[at]);
            if (FROM == From::l2) at = __ldcg(&chain[at]);
        }
        *last = at;  // before the clock is read again
        *cycles = clock64() - begin;
    }
}

// Cycles a load in a chain through `bytes` in which each index leads `stride` bytes further. With `flush`, what the
// first turns left in the caches is overwritten before the one that counts.
template <From FROM>
double cycles_a_load(std::size_t bytes, std::size_t stride, bool flush = false) {
    const std::size_t count = bytes / sizeof(uint32_t), step = stride / sizeof(uint32_t);
    std::vector<uint32_t> host(count);
    for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<uint32_t>((i + step) % count);
    uint32_t *chain, *last;
    char* other;
    long long *d_cycles, cycles = 0;
    CHECK(cudaMalloc(&chain, bytes));
    CHECK(cudaMalloc(&other, MORE_THAN_L2));
    CHECK(cudaMalloc(&d_cycles, sizeof(long long)));
    CHECK(cudaMalloc(&last, sizeof(uint32_t)));
    CHECK(cudaMemcpy(chain, host.data(), bytes, cudaMemcpyHostToDevice));
    const auto run = [&](int turns) {
        const std::size_t shared = FROM == From::shared ? bytes : 0;
        chase<FROM><<<1, 1, shared>>>(chain, static_cast<int>(count), turns, d_cycles, last);
        CHECK(cudaGetLastError());
    };
    run(2);
    if (flush) {
        CHECK(cudaMemset(other, 1, MORE_THAN_L2));
        run(1);
    }
    CHECK(cudaMemcpy(&cycles, d_cycles, sizeof(long long), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(chain));
    CHECK(cudaFree(other));
    CHECK(cudaFree(d_cycles));
    CHECK(cudaFree(last));
    return static_cast<double>(cycles) / STEPS;
}

void row(const char* what, const char* size, double cycles) {
    std::printf("| %s | %s | %.0f cycles | |\n", what, size, cycles);
}

}  // namespace

int main() {
    row("shared memory", "32 KiB", cycles_a_load<From::shared>(32 << 10, 132));
    row("L1", "32 KiB", cycles_a_load<From::l1>(32 << 10, 132));
    row("L2", "512 KiB", cycles_a_load<From::l2>(512 << 10, 128));
    row("device memory", "64 MiB", cycles_a_load<From::l2>(STEPS * 16512ul, 16512, true));

    const auto l1 = [] { return cycles_a_load<From::l1>(128 << 10, 132); };
    for (const auto& [name, config] : {std::pair{"`cudaDeviceSetCacheConfig`, L1", cudaFuncCachePreferL1},
                                       std::pair{"`cudaDeviceSetCacheConfig`, shared", cudaFuncCachePreferShared}}) {
        CHECK(cudaDeviceSetCacheConfig(config));
        row(name, "128 KiB through L1", l1());
    }
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    for (const auto& [name, config] : {std::pair{"`cudaFuncSetCacheConfig`, L1", cudaFuncCachePreferL1},
                                       std::pair{"`cudaFuncSetCacheConfig`, shared", cudaFuncCachePreferShared}}) {
        CHECK(cudaFuncSetCacheConfig(chase<From::l1>, config));
        row(name, "128 KiB through L1", l1());
    }
    CHECK(cudaFuncSetCacheConfig(chase<From::l1>, cudaFuncCachePreferNone));
    for (const auto& [name, percent] : {std::pair{"carveout of 0 %", 0}, std::pair{"carveout of 100 %", 100}}) {
        CHECK(cudaFuncSetAttribute(chase<From::l1>, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
        row(name, "128 KiB through L1", l1());
    }
    cudaSharedMemConfig banks;
    const cudaError_t set = cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte);
    CHECK(cudaDeviceGetSharedMemConfig(&banks));
    std::printf("| `cudaDeviceSetSharedMemConfig`, 8 bytes | %s | %d bytes | |\n", cudaGetErrorName(set),
                banks == cudaSharedMemBankSizeEightByte ? 8 : 4);
}
