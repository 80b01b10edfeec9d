// Hidden tests of lab occupancy: blocks that are not whole warps or cannot be launched, other devices, and products
// with other sizes and widths.
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "occupancy.h"

using namespace warpgrade::judge;

TEST_CASE("blocks that are not whole warps", "[hidden]") {
    for (const char* name : {"h100", "t4", "rtx3060"}) {
        INFO("device " << name);
        const auto limits = device_limits(name);
        const int threads_per_sm = limits[THREADS_PER_SM], most_warps = threads_per_sm / 32;
        for (const int block_threads : {1, 31, 33, 100, 200, 513, 1000, 1023}) {
            INFO("block_threads = " << block_threads);
            const int blocks = std::min(limits[BLOCKS_PER_SM], threads_per_sm / block_threads);
            const double occupancy_by_threads = submission().call<thread_occupancy>(in(limits), block_threads);
            CHECK_THAT(occupancy_by_threads, is_fraction(static_cast<double>(blocks) * block_threads / threads_per_sm));

            const int warps = (block_threads + 31) / 32;
            const int resident = std::min(most_warps, 65536 / (48 * block_threads) * warps);
            const double occupancy_by_registers = submission().call<register_occupancy>(in(limits), block_threads, 48);
            CHECK_THAT(occupancy_by_registers, is_fraction(static_cast<double>(resident) / most_warps));

            check_blocks(limits, block_threads, 40, 0);
            check_blocks(limits, block_threads, 72, 3000);
        }
    }
}

// At each limit, and just beyond it. In between stands what can be launched, so that zero is not always right.
TEST_CASE("blocks that cannot be launched", "[hidden]") {
    for (const auto& name : warpgrade::vgpu::profile_names()) {
        INFO("device " << name);
        const auto limits = device_limits(name);
        const int most_threads = limits[THREADS_PER_BLOCK], most_bytes = limits[SHARED_BYTES_PER_BLOCK];
        for (const int block_threads : {0, -32, most_threads, most_threads + 1, 2 * most_threads}) {
            check_blocks(limits, block_threads, 32, 0);
        }
        for (const int shared_bytes : {most_bytes - 1, most_bytes, most_bytes + 1, limits[SHARED_BYTES_PER_SM] + 1}) {
            check_blocks(limits, 128, 32, shared_bytes);
        }
        for (const int block_threads : {256, 288, 512, 544, 1024}) {
            for (const int registers : {64, 65, 120, 128, 129, 224, 225, 255}) {
                check_blocks(limits, block_threads, registers, 0);
            }
        }
    }
    const auto limits = device_limits("h100");
    for (const int block_threads : {0, -1, 1025}) {
        const double occupancy = submission().call<thread_occupancy>(in(limits), block_threads);
        CHECK_THAT(occupancy, is_fraction(0));
    }
    const double occupancy = submission().call<thread_occupancy>(in(limits), 1);
    CHECK_THAT(occupancy, is_fraction(32.0 / 2048));
}

// Devices whose numbers differ from those of the public tests one by one, existing and made up: nothing may be written
// down in the program. In the order of DeviceLimit.
TEST_CASE("devices that the public tests do not know", "[hidden]") {
    const Limits limits = GENERATE(values<Limits>({
        {1024, 2048, 32, 65536, 65536, 2, 256, 49152, 65536, 0, 256},        // compute capability 6.0
        {1024, 2048, 32, 32768, 65536, 4, 256, 49152, 65536, 0, 256},        // 5.3: half of the registers a block
        {1024, 2048, 32, 65536, 65536, 4, 256, 98304, 98304, 0, 256},        // 7.0
        {1024, 1536, 24, 65536, 65536, 4, 256, 101376, 102400, 1024, 128},   // 8.9
        {512, 1024, 8, 32768, 32768, 4, 256, 32768, 40000, 512, 128},        // made up
        {768, 3072, 48, 131072, 131072, 4, 256, 120000, 150000, 2048, 128},  // made up
    }));
    for (int i = 0; i < 60; ++i) {
        const int block_threads = integers<int>(1, 1, 1024)[0], registers = integers<int>(1, 16, 200)[0];
        check_blocks(limits, block_threads, registers, integers<int>(1, 0, 20000)[0]);
        check_blocks(limits, block_threads / 4 + 1, 24, 0);
    }
    for (const int block_threads : {64, 256, 512}) {
        for (const int registers : {32, 40, 64, 128}) check_blocks(limits, block_threads, registers, 8 * block_threads);
        const int blocks = std::min(limits[BLOCKS_PER_SM], limits[THREADS_PER_SM] / block_threads);
        const double occupancy = submission().call<thread_occupancy>(in(limits), block_threads);
        CHECK_THAT(occupancy, is_fraction(static_cast<double>(blocks) * block_threads / limits[THREADS_PER_SM]));
    }
    check_best_block(limits, integers<int>(1, 16, 100)[0], integers<int>(1, 0, 20000)[0]);
    check_most_registers(limits, 32 * integers<int>(1, 1, 16)[0], integers<int>(1, 1, 8)[0]);
}

// A width that is left over from the call before is wrong; a block of one thread is allowed.
TEST_CASE("other sizes, and one width after the other", "[hidden][checks]") {
    check_product(32, 32, 32, 32);
    check_product(96, 32, 160, 8);
    check_product(32, 160, 64, 16);
    check_product(160, 64, 32, 4);
    check_product(32, 32, 64, 1);
    check_product(64, 32, 32, 2);
    check_product(32, 256, 32, 32);
}

TEST_CASE("sizes and widths that the contract excludes leave C alone", "[hidden]") {
    const int size = MAX_WIDTH;
    const auto A = uniform(size * size), B = uniform(size * size), before = uniform(size * size);
    const auto [m, k, n, width] = GENERATE(table<int, int, int, int>({{0, 32, 32, 16},
                                                                      {32, 0, 32, 16},
                                                                      {32, 32, 0, 16},
                                                                      {-32, -32, 32, 16},
                                                                      {32, 32, 32, 0},
                                                                      {32, 32, 32, -4},
                                                                      {32, 32, 32, 12},
                                                                      {32, 32, 32, 64}}));
    INFO("m = " << m << ", k = " << k << ", n = " << n << ", width = " << width);
    const auto run = submission().profile<matmul_dynamic>(in(A), in(B), inout(before), m, k, n, width);
    const auto& C = run.output;
    CHECK_THAT(C, equals_exactly(before));
    CHECK_THAT(launches(run), is(0));
    check_product(size, size, size, 8);  // and what it allows is multiplied
}
