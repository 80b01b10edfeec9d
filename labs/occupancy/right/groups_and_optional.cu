// RIGHT: calculators as methods of a class that throws for what no launch can have; cooperative groups, a launch with attributes, arrays that free themselves, one page-locked buffer
#include <cooperative_groups.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "occupancy.h"

namespace cg = cooperative_groups;

namespace {

void demand(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

struct DeviceFree {
    void operator()(void* memory) const noexcept { cudaFree(memory); }
};
struct HostFree {
    void operator()(void* memory) const noexcept { cudaFreeHost(memory); }
};

std::unique_ptr<float[], DeviceFree> device_floats(std::size_t count) {
    void* memory = nullptr;
    demand(cudaMalloc(&memory, count * sizeof(float)), "cudaMalloc");
    return std::unique_ptr<float[], DeviceFree>(static_cast<float*>(memory));
}

struct TooLarge {};

class Multiprocessor {
  public:
    explicit Multiprocessor(const int* limits) : limits_(limits, limits + DEVICE_LIMITS) {}

    int warps() const { return limits_[THREADS_PER_SM] / WARP_SIZE; }

    int blocks(int threads, int registers, int shared) const {
        std::vector<int> room{limits_[BLOCKS_PER_SM], by_warps(threads), by_registers(threads, registers)};
        if (const auto more = by_shared(shared)) room.push_back(*more);
        return std::accumulate(room.begin(), room.end(), room.front(), [](int a, int b) { return a < b ? a : b; });
    }

  private:
    static int ceil_div(int a, int b) { return a / b + (a % b > 0); }

    int by_warps(int threads) const {
        if (threads < 1 || threads > limits_[THREADS_PER_BLOCK]) throw TooLarge{};
        return warps() / ceil_div(threads, WARP_SIZE);
    }

    int by_registers(int threads, int registers) const {
        const int parts = limits_[SUB_PARTITIONS], warps = ceil_div(threads, WARP_SIZE);
        const int warp = ceil_div(registers * WARP_SIZE, limits_[REGISTER_UNIT]) * limits_[REGISTER_UNIT];
        if (ceil_div(warps, parts) * parts > limits_[REGISTERS_PER_BLOCK] / warp) throw TooLarge{};
        return limits_[REGISTERS_PER_SM] / parts / warp * parts / warps;
    }

    std::optional<int> by_shared(int bytes) const {
        if (bytes > limits_[SHARED_BYTES_PER_BLOCK]) throw TooLarge{};
        const int units = ceil_div(bytes + limits_[RESERVED_SHARED_BYTES], limits_[SHARED_UNIT_BYTES]);
        if (units == 0) return std::nullopt;
        return limits_[SHARED_BYTES_PER_SM] / limits_[SHARED_UNIT_BYTES] / units;
    }

    std::vector<int> limits_;
};

}  // namespace

double thread_occupancy(const int* device, int block_threads) {
    if (block_threads < 1 || block_threads > device[THREADS_PER_BLOCK]) return 0;
    const double all = device[THREADS_PER_SM];
    return std::min(device[BLOCKS_PER_SM], device[THREADS_PER_SM] / block_threads) * (block_threads / all);
}

double register_occupancy(const int* device, int block_threads, int registers) {
    const int warps = (block_threads - 1) / WARP_SIZE + 1, most = Multiprocessor(device).warps();
    return std::min(1.0, device[REGISTERS_PER_SM] / (registers * block_threads) * warps / double(most));
}

int resident_blocks(const int* device, int block_threads, int registers, int shared_bytes) {
    try {
        return Multiprocessor(device).blocks(block_threads, registers, shared_bytes);
    } catch (TooLarge) {
        return 0;
    }
}

void query_limits(int* device) {
    cudaDeviceProp of{};
    demand(cudaGetDeviceProperties(&of, 0), "cudaGetDeviceProperties");
    const bool p100 = of.major == 6 && of.minor == 0;
    const std::vector<std::size_t> limits{std::size_t(of.maxThreadsPerBlock),
                                          std::size_t(of.maxThreadsPerMultiProcessor),
                                          std::size_t(of.maxBlocksPerMultiProcessor),
                                          std::size_t(of.regsPerBlock),
                                          std::size_t(of.regsPerMultiprocessor),
                                          p100 ? 2u : 4u,
                                          256u,
                                          of.sharedMemPerBlockOptin,
                                          of.sharedMemPerMultiprocessor,
                                          of.reservedSharedMemPerBlock,
                                          of.major >= 8 ? 128u : 256u};
    std::transform(limits.begin(), limits.end(), device, [](std::size_t limit) { return int(limit); });
}

int best_block(const int* device, int registers, int shared_bytes) {
    std::vector<int> sizes(device[THREADS_PER_BLOCK] / WARP_SIZE);
    std::iota(sizes.begin(), sizes.end(), 1);
    const auto warps = [&](int size) {
        return size * resident_blocks(device, size * WARP_SIZE, registers, shared_bytes);
    };
    const auto best = std::max_element(sizes.begin(), sizes.end(), [&](int a, int b) { return warps(a) < warps(b); });
    return best == sizes.end() || warps(*best) == 0 ? 0 : *best * WARP_SIZE;
}

int most_registers(const int* device, int block_threads, int blocks) {
    int most = 0;
    for (int registers = 1; registers <= 255; ++registers)
        if (resident_blocks(device, block_threads, registers, 0) >= blocks) most = registers;
    return most;
}

int power_of_four(int threads) { return threads < 4 ? 1 : 4 * power_of_four(threads / 4); }

int requiredSM(int block_threads) { return block_threads * int(sizeof(float) + sizeof(float)); }

__constant__ unsigned tile_width;

__global__ void multiply(const float* A, const float* B, float* C, int k, int n) {
    extern __shared__ float of_a[];
    const auto block = cg::this_thread_block();
    const dim3 tile = block.group_index(), me = block.thread_index();
    const unsigned width = tile_width, rank = block.thread_rank();
    float* const of_b = of_a + block.size();
    const float *a = A + (tile.y * width + me.y) * k + me.x, *b = B + me.y * n + tile.x * width + me.x;
    float sum = 0;
    for (int left = k / width; left > 0; --left, a += width, b += width * n) {
        of_a[rank] = *a;
        of_b[rank] = *b;
        block.sync();
        for (unsigned i = 0; i < width; ++i) sum += of_a[me.y * width + i] * of_b[i * width + me.x];
        block.sync();
    }
    C[(tile.y * width + me.y) * n + tile.x * width + me.x] = sum;
}

void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (std::min({m, k, n}) < 1) return;
    const int widths[] = {1, 2, 4, 8, 16, 32};
    if (std::find(std::begin(widths), std::end(widths), width) == std::end(widths)) return;
    const std::size_t a = std::size_t(m) * k, b = std::size_t(k) * n, c = std::size_t(m) * n;
    const auto d_all = device_floats(a + b + c);
    void* memory = nullptr;
    demand(cudaMallocHost(&memory, (a + b + c) * sizeof(float)), "cudaMallocHost");
    const std::unique_ptr<float[], HostFree> all(static_cast<float*>(memory));
    std::memcpy(all.get(), A, a * sizeof(float));
    std::memcpy(all.get() + a, B, b * sizeof(float));
    demand(cudaMemcpyAsync(d_all.get(), all.get(), (a + b) * sizeof(float), cudaMemcpyHostToDevice), "up");
    demand(cudaMemcpyToSymbolAsync(tile_width, &width, sizeof width), "width");

    cudaLaunchConfig_t config{};
    config.gridDim = dim3(n / width, m / width);
    config.blockDim = dim3(width, width);
    config.dynamicSmemBytes = requiredSM(width * width);
    demand(cudaLaunchKernelEx(&config, multiply, static_cast<const float*>(d_all.get()),
                              static_cast<const float*>(d_all.get() + a), d_all.get() + a + b, k, n),
           "launch");
    demand(cudaMemcpyAsync(all.get() + a + b, d_all.get() + a + b, c * sizeof(float), cudaMemcpyDeviceToHost), "down");
    demand(cudaStreamSynchronize(nullptr), "wait");
    std::memcpy(C, all.get() + a + b, c * sizeof(float));
}

int my_registers() { return 32; }

int my_blocks(int width) {
    std::vector<int> limits(DEVICE_LIMITS);
    query_limits(limits.data());
    return resident_blocks(limits.data(), width * width, my_registers(), requiredSM(width * width));
}

int api_blocks(int width) {
    int blocks = 0;
    demand(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply, width * width, requiredSM(width * width)),
           "occupancy");
    return blocks;
}

int chosen_width(int most_threads) {
    int grid = 0, block = 0;
    const auto shared = [](int threads) { return 8 * threads; };
    demand(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, multiply, shared, most_threads), "block size");
    switch (power_of_four(block)) {
        case 1024:
            return 32;
        case 256:
            return 16;
        case 64:
            return 8;
        case 16:
            return 4;
        case 4:
            return 2;
        default:
            return 1;
    }
}

int matmul_best(const float* A, const float* B, float* C, int m, int k, int n) {
    const int width = chosen_width(1024);
    matmul_dynamic(A, B, C, m, k, n, width);
    return width;
}
