#include "vgpu/model/occupancy.hpp"

#include <climits>
#include <cmath>

#include "support/contains.hpp"
#include "vgpu/model/profile.hpp"

// CUDA's own calculation, if the toolkit's header is available.
#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define WG_HAS_CUDA_OCCUPANCY 1
#endif

using namespace warpgrade;
using namespace warpgrade::vgpu;

namespace {

device::FunctionInfo kernel(std::uint32_t registers, std::uint32_t static_shared) {
    device::FunctionInfo info;
    info.registers_per_thread = registers;
    info.static_shared_bytes = static_shared;
    return info;
}

}  // namespace

TEST_CASE("occupancy of an H100: what limits it has a name") {
    const auto device = find_profile("h100").properties;
    const auto full = occupancy(device, kernel(32, 0), 256, 0);
    CHECK(full.blocks_per_multiprocessor == 8);
    CHECK(full.theoretical == 1.0);
    CHECK(full.limiter == "warps");
    const auto small = occupancy(device, kernel(16, 0), 32, 0);
    CHECK(small.blocks_per_multiprocessor == 32);
    CHECK(small.theoretical == 0.5);
    CHECK(small.limiter == "blocks");
    const auto fat = occupancy(device, kernel(128, 0), 256, 0);
    CHECK(fat.blocks_per_multiprocessor == 2);
    CHECK(fat.limiter == "registers");
    const auto shared = occupancy(device, kernel(32, 48 * 1024), 256, 0);
    CHECK(shared.blocks_per_multiprocessor == 4);  // 228 / (48 + 1)
    CHECK(shared.limiter == "shared memory");
}

TEST_CASE("a block that never fits has occupancy 0 and the reason") {
    const auto device = find_profile("h100").properties;
    CHECK(occupancy(device, kernel(32, 0), 1056, 0).blocks_per_multiprocessor == 0);
    CHECK(occupancy(device, kernel(32, 0), 0, 0).theoretical == 0);
    CHECK(occupancy(device, kernel(128, 0), 1024, 0).limiter == "registers");
    CHECK(occupancy(device, kernel(32, 0), 128, 228 * 1024).limiter == "shared memory");
    CHECK(occupancy(device, kernel(32, 0), 128, ~0ull).blocks_per_multiprocessor == 0);
    CHECK(occupancy(device, kernel(~0u, ~0u), 128, ~0ull).blocks_per_multiprocessor == 0);
    CHECK(occupancy(device, kernel(32, 0), 128, 227 * 1024).blocks_per_multiprocessor == 1);
}

TEST_CASE("the largest block that a kernel's registers allow is as an H100 says") {
    const auto device = find_profile("h100").properties;
    const std::pair<std::uint32_t, std::uint32_t> recorded[] = {{8, 1024},  {64, 1024}, {72, 896},  {96, 640},
                                                                {128, 512}, {168, 384}, {200, 256}, {254, 256}};
    for (const auto& [registers, threads] : recorded) CHECK(max_block_threads(device, kernel(registers, 0)) == threads);
    CHECK(max_block_threads(device, kernel(~0u, 0)) == 0);
}

TEST_CASE("a thread has no more registers than its architecture has names for, however many are free") {
    const auto most = [](const char* name, std::uint32_t registers) {
        return occupancy(find_profile(name).properties, kernel(registers, 0), 32, 0);
    };
    CHECK(most("h100", 256).blocks_per_multiprocessor == 8);
    CHECK(most("h100", 257).blocks_per_multiprocessor == 0);
    CHECK(most("h100", 257).limiter == "registers");
    CHECK(most("k2200", 255).blocks_per_multiprocessor == 8);
    CHECK(most("k2200", 256).blocks_per_multiprocessor == 0);
    auto device = find_profile("h100").properties;
    for (const std::uint32_t major : {3, 5, 6, 7, 8, 9, 10, 12}) {
        CAPTURE(major);
        device.major = major;
        const std::uint32_t names = major < 7 ? 255 : 256;
        CHECK(occupancy(device, kernel(names, 0), 32, 0).blocks_per_multiprocessor == 8);
        CHECK(occupancy(device, kernel(names + 1, 0), 32, 0).blocks_per_multiprocessor == 0);
    }
}

#ifdef WG_HAS_CUDA_OCCUPANCY
TEST_CASE("occupancy agrees with cuda_occupancy.h") {
    for (const std::string& name : profile_names()) {
        const auto device = find_profile(name).properties;
        cudaOccDeviceProp property;
        property.computeMajor = device.major;
        property.computeMinor = device.minor;
        property.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block);
        property.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_multi_processor);
        property.regsPerBlock = static_cast<int>(device.regs_per_block);
        property.regsPerMultiprocessor = static_cast<int>(device.regs_per_multiprocessor);
        property.warpSize = 32;
        property.sharedMemPerBlock = device.shared_mem_per_block;
        property.sharedMemPerMultiprocessor = device.shared_mem_per_multiprocessor;
        property.numSms = static_cast<int>(device.multi_processor_count);
        property.sharedMemPerBlockOptin = device.shared_mem_per_block_optin;
        property.reservedSharedMemPerBlock = device.reserved_shared_mem_per_block;
        for (const std::uint32_t threads : {1u, 32u, 33u, 64u, 96u, 128u, 200u, 256u, 384u, 512u, 768u, 992u, 1024u}) {
            for (const std::uint32_t registers :
                 {0u, 8u, 10u, 24u, 32u, 33u, 40u, 63u, 64u, 72u, 96u, 128u, 168u, 255u}) {
                for (const std::uint32_t static_shared : {0u, 1u, 128u, 2112u, 8192u, 16384u, 49152u}) {
                    for (const std::uint64_t dynamic : {0, 1000, 20000, 60000, 100000, 163840, 200000, 232448}) {
                        const std::uint64_t most = device.shared_mem_per_block_optin;
                        if (static_shared + dynamic > most) continue;  // no launch can ask for this
                        cudaOccFuncAttributes attributes;
                        attributes.maxThreadsPerBlock = INT_MAX;
                        attributes.numRegs = static_cast<int>(registers);
                        attributes.sharedSizeBytes = static_shared;
                        attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
                        attributes.maxDynamicSharedSizeBytes = most - static_shared;
                        const cudaOccDeviceState state;
                        cudaOccResult expected;
                        REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &property, &attributes, &state,
                                                                        static_cast<int>(threads),
                                                                        dynamic) == CUDA_OCC_SUCCESS);
                        const auto function = kernel(registers, static_shared);
                        const auto mine = occupancy(device, function, threads, dynamic);
                        const auto limits = block_limits(device, function, threads, dynamic);
                        const bool equal =
                            static_cast<int>(mine.blocks_per_multiprocessor) ==
                                expected.activeBlocksPerMultiprocessor &&
                            limits.allocated_shared_bytes == expected.allocatedSharedMemPerBlock &&
                            static_cast<int>(limits.allocated_registers) == expected.allocatedRegistersPerBlock;
                        const unsigned factor = mine.limiter == "warps"       ? OCC_LIMIT_WARPS
                                                : mine.limiter == "blocks"    ? OCC_LIMIT_BLOCKS
                                                : mine.limiter == "registers" ? OCC_LIMIT_REGISTERS
                                                                              : OCC_LIMIT_SHARED_MEMORY;
                        if (equal && (expected.limitingFactors & factor) != 0) continue;
                        CAPTURE(name, threads, registers, static_shared, dynamic, mine.limiter);
                        CHECK(static_cast<int>(mine.blocks_per_multiprocessor) ==
                              expected.activeBlocksPerMultiprocessor);
                        CHECK(limits.allocated_shared_bytes == expected.allocatedSharedMemPerBlock);
                        CHECK(static_cast<int>(limits.allocated_registers) == expected.allocatedRegistersPerBlock);
                        CHECK((expected.limitingFactors & factor) != 0);
                    }
                }
            }
        }
    }
}
#endif

TEST_CASE("profiles are found by name, and slices share") {
    const Profile h100 = find_profile("h100"), four = find_profile("h100:4");
    CHECK(h100.properties.multi_processor_count == 132);
    CHECK(h100.compile_arch() == 90);
    CHECK(find_profile("k20x").compile_arch() == 75);
    CHECK(four.properties.multi_processor_count == 4);
    CHECK(four.full_sms == 132);
    CHECK(std::abs(four.properties.dram_bytes_per_ns * 33 - h100.properties.dram_bytes_per_ns) < 1e-6);
    CHECK(four.properties.l2_cache_bytes == h100.properties.l2_cache_bytes * 4 / 132);
    CHECK(slice(h100, 132).properties.l2_cache_bytes == h100.properties.l2_cache_bytes);
    CHECK(slice(h100, 132).properties.name == h100.properties.name);
    CHECK(slice(slice(h100, 8), 4).properties.name == "NVIDIA H100 80GB HBM3 (virtual, 4 of 132 SMs)");
    CHECK(find_profile("h100:all").properties.multi_processor_count == 132);
    CHECK_THROWS_WITH(find_profile("v100"), Contains("'v100'") && Contains("h100, h200"));
    CHECK_THROWS_AS(find_profile("h100:0"), ProfileError);
    CHECK_THROWS_AS(find_profile("h100:133"), ProfileError);
    CHECK_THROWS_AS(find_profile("h100:x"), ProfileError);
    CHECK_THROWS_AS(find_profile("h100:"), ProfileError);
    CHECK_THROWS_AS(find_profile(""), ProfileError);
}

TEST_CASE("achieved occupancy counts the last wave of blocks") {
    const auto& device = find_profile("h100:4").properties;
    device::Occupancy fit;
    fit.theoretical = 1;
    fit.blocks_per_multiprocessor = 8;
    CHECK(achieved_occupancy(device, fit, 32) == 1);          // one full wave
    CHECK(achieved_occupancy(device, fit, 4) == 1.0 / 8);     // one block each
    CHECK(achieved_occupancy(device, fit, 1) == 1.0 / 8);     // idle multiprocessors do not count
    CHECK(achieved_occupancy(device, fit, 29) == 29.0 / 32);  // one of them is full
    CHECK(achieved_occupancy(device, fit, 33) == 33.0 / 40);  // one of them works alone in a second wave
    CHECK(achieved_occupancy(device, fit, 0) == 0);
    fit.theoretical = 0.5;
    CHECK(achieved_occupancy(device, fit, 48) == 0.5 * 48 / 64);
    fit.blocks_per_multiprocessor = 1;
    CHECK(achieved_occupancy(device, fit, 12) == 0.5);  // three waves of one block each
    fit.theoretical = 0, fit.blocks_per_multiprocessor = 0;
    CHECK(achieved_occupancy(device, fit, 1) == 0);  // a block that does not fit
}
