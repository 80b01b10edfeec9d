// What the tests of lab occupancy share: devices as arrays of limits, the virtual GPU's own answer, and right products.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "judge/judge.hpp"
#include "occupancy.h"
#include "vgpu/model/occupancy.hpp"
#include "vgpu/model/profile.hpp"

using Limits = std::vector<int>;  // DEVICE_LIMITS of them

inline Limits limits_of(const warpgrade::device::DeviceProperties& device) {
    Limits limits(DEVICE_LIMITS);
    limits[THREADS_PER_BLOCK] = static_cast<int>(device.max_threads_per_block);
    limits[THREADS_PER_SM] = static_cast<int>(device.max_threads_per_multi_processor);
    limits[BLOCKS_PER_SM] = static_cast<int>(device.max_blocks_per_multi_processor);
    limits[REGISTERS_PER_BLOCK] = static_cast<int>(device.regs_per_block);
    limits[REGISTERS_PER_SM] = static_cast<int>(device.regs_per_multiprocessor);
    limits[SUB_PARTITIONS] = device.major == 6 && device.minor == 0 ? 2 : 4;
    limits[REGISTER_UNIT] = 256;
    limits[SHARED_BYTES_PER_BLOCK] = static_cast<int>(device.shared_mem_per_block_optin);
    limits[SHARED_BYTES_PER_SM] = static_cast<int>(device.shared_mem_per_multiprocessor);
    limits[RESERVED_SHARED_BYTES] = static_cast<int>(device.reserved_shared_mem_per_block);
    limits[SHARED_UNIT_BYTES] = device.major >= 8 ? 128 : 256;
    return limits;
}

// The device "h100", "t4", … as an array.
inline Limits device_limits(const std::string& profile) {
    return limits_of(warpgrade::vgpu::find_profile(profile).properties);
}

// The limits of the device on which the submission runs.
inline Limits running_device() { return limits_of(warpgrade::judge::device_properties()); }

namespace oracle {

// What a device with these limits answers: the calculation of the virtual GPU, which agrees with the toolkit's own
// cuda_occupancy.h (tests/vgpu/model/occupancy_test.cpp compares them).
inline int resident_blocks(const Limits& limits, int block_threads, int registers, int shared_bytes) {
    warpgrade::device::DeviceProperties device;
    device.major = limits[SUB_PARTITIONS] == 2 ? 6 : limits[SHARED_UNIT_BYTES] == 128 ? 8 : 7;
    device.max_threads_per_block = static_cast<std::uint32_t>(limits[THREADS_PER_BLOCK]);
    device.max_threads_per_multi_processor = static_cast<std::uint32_t>(limits[THREADS_PER_SM]);
    device.max_blocks_per_multi_processor = static_cast<std::uint32_t>(limits[BLOCKS_PER_SM]);
    device.regs_per_block = static_cast<std::uint32_t>(limits[REGISTERS_PER_BLOCK]);
    device.regs_per_multiprocessor = static_cast<std::uint32_t>(limits[REGISTERS_PER_SM]);
    device.shared_mem_per_block_optin = static_cast<std::uint64_t>(limits[SHARED_BYTES_PER_BLOCK]);
    device.shared_mem_per_multiprocessor = static_cast<std::uint64_t>(limits[SHARED_BYTES_PER_SM]);
    device.reserved_shared_mem_per_block = static_cast<std::uint64_t>(limits[RESERVED_SHARED_BYTES]);
    if (block_threads < 1) return 0;
    warpgrade::device::FunctionInfo function;
    function.registers_per_thread = static_cast<std::uint32_t>(registers);
    const auto threads = static_cast<std::uint32_t>(block_threads);
    const auto bytes = static_cast<std::uint64_t>(shared_bytes);
    return static_cast<int>(warpgrade::vgpu::occupancy(device, function, threads, bytes).blocks_per_multiprocessor);
}

// The tile width that follows from what the API recommends: of all sizes of at most most_threads threads in steps of a
// warp, beginning with the largest, the first with the most resident threads; then the root of the largest power of
// four that is not above it.
inline int chosen_width(const Limits& limits, int registers, int most_threads) {
    int best_block = 0, most_resident = 0;
    for (int warps = (most_threads + 31) / 32; warps > 0; --warps) {
        const int block = std::min(32 * warps, most_threads);
        const int resident = block * resident_blocks(limits, block, registers, 8 * block);
        if (resident > most_resident) most_resident = resident, best_block = block;
    }
    int width = 1;
    while (4 * width * width <= best_block) width *= 2;
    return width;
}

// The product in double; an element is a sum of k products, and a right solution in single precision differs from it by
// at most gamma_k · sum |a·b| (judge/compare.hpp, dot_bound). Half precision is off by more for the sizes tested here.
inline warpgrade::judge::Expected matmul(const std::vector<float>& A, const std::vector<float>& B, int m, int k,
                                         int n) {
    const auto columns = static_cast<std::size_t>(n);
    std::vector<double> value(static_cast<std::size_t>(m) * columns, 0.0), bound(value.size(), 0.0);
    for (int i = 0; i < m; ++i) {
        for (int q = 0; q < k; ++q) {
            const double a = A[static_cast<std::size_t>(i) * k + q];
            for (std::size_t j = 0; j < columns; ++j) {
                const double product = a * B[q * columns + j];
                value[i * columns + j] += product;
                bound[i * columns + j] += std::abs(product);
            }
        }
    }
    for (double& each : bound) each = warpgrade::judge::dot_bound(k, each);
    return {value, bound};
}

}  // namespace oracle

inline warpgrade::judge::Measure blocks_per_multiprocessor(int blocks) {
    return {"blocks per multiprocessor", blocks, {}};
}

// The submission's number of blocks is that of the oracle. REQUIRE: of hundreds of cases the first that differs is
// told.
inline void check_blocks(const Limits& limits, int block_threads, int registers, int shared_bytes) {
    using namespace warpgrade::judge;
    INFO("block_threads = " << block_threads << ", registers = " << registers << ", shared_bytes = " << shared_bytes);
    const int blocks = submission().call<resident_blocks>(in(limits), block_threads, registers, shared_bytes);
    const int right = oracle::resident_blocks(limits, block_threads, registers, shared_bytes);
    REQUIRE_THAT(blocks_per_multiprocessor(blocks), is(right));
}

inline void check_best_block(const Limits& limits, int registers, int shared_bytes) {
    using namespace warpgrade::judge;
    INFO("registers = " << registers << ", shared_bytes = " << shared_bytes);
    const int block = submission().call<best_block>(in(limits), registers, shared_bytes);
    int right = 0, most_warps = 0;
    for (int warps = 1; 32 * warps <= limits[THREADS_PER_BLOCK]; ++warps) {
        const int resident = warps * oracle::resident_blocks(limits, 32 * warps, registers, shared_bytes);
        if (resident > most_warps) most_warps = resident, right = 32 * warps;
    }
    CHECK_THAT(measure("threads of the best block", block), is(right));
}

inline void check_most_registers(const Limits& limits, int block_threads, int blocks) {
    using namespace warpgrade::judge;
    INFO("block_threads = " << block_threads << ", blocks = " << blocks);
    const int registers = submission().call<most_registers>(in(limits), block_threads, blocks);
    int right = 0;
    for (int each = 1; each <= 255; ++each) {
        if (oracle::resident_blocks(limits, block_threads, each, 0) >= blocks) right = each;
    }
    CHECK_THAT(measure("most registers of a thread", registers), is(right));
}

// Occupancies are fractions with denominators of at most 2048: two of them differ by more than 1e-6, or not at all.
inline auto is_fraction(double value) { return warpgrade::judge::near({{value}, {1e-6}}); }

// Multiplies in the submission with this width, and checks the product and that one kernel with blocks of width · width
// threads computed it.
inline auto profile_product(int m, int k, int n, int width) {
    using namespace warpgrade::judge;
    INFO("m = " << m << ", k = " << k << ", n = " << n << ", width = " << width);
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto run = submission().profile<matmul_dynamic>(in(A), in(B), out<float>(m * n), m, k, n, width);
    const auto& C = run.output;
    REQUIRE_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
    REQUIRE_THAT(launches(run), is(1));
    const auto& kernel = run.launches.front();
    CHECK_THAT(threads_per_block(kernel), is(width * width, "width · width"));
    // An instruction of a thread multiplies at most one pair.
    CHECK_THAT(thread_instructions(kernel),
               at_least(static_cast<std::uint64_t>(m) * k * n, "the products must be computed on the device"));
    return run;
}

inline warpgrade::device::LaunchRecord check_product(int m, int k, int n, int width) {
    return profile_product(m, k, n, width).launches.front();
}
