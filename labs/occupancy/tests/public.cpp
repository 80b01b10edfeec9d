// Public tests of lab occupancy: the calculators against examples and against the device, and the product that chooses
// its block size.
#include <cstdint>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "occupancy.h"

using namespace warpgrade::judge;

// The calculator is host code; so is what it chooses for matmul_best, whose product the device computes.
[[maybe_unused]] const bool by_host =
    computed_on_host<&thread_occupancy, &register_occupancy, &resident_blocks, &query_limits, &best_block,
                     &most_registers, &power_of_four, &requiredSM, &my_registers, &my_blocks, &api_blocks,
                     &chosen_width>() &&
    returned_by_host<&matmul_best>();

TEST_CASE("thread_occupancy follows the sheet's formula", "[public]") {
    const auto check = [](const char* device, int block_threads, double expected) {
        INFO(device << ", block_threads = " << block_threads);
        const auto limits = device_limits(device);
        const double occupancy = submission().call<thread_occupancy>(in(limits), block_threads);
        CHECK_THAT(occupancy, is_fraction(expected));
    };
    check("h100", 256, 1.0);                // 8 blocks of 256 = 2048
    check("h100", 32, 0.5);                 // 32 blocks of 32 = 1024 of 2048: no more blocks are allowed
    check("h100", 768, 1536.0 / 2048);      // 2 blocks
    check("k20x", 64, 0.5);                 // 16 blocks
    check("t4", 1024, 1.0);                 // an SM for 1024 threads
    check("rtx3060", 1024, 1024.0 / 1536);  // 1 block
    check("rtx3060", 192, 1.0);             // 8 blocks
    check("rtx4090", 32, 0.5);              // 24 blocks of 32 = 768 of 1536
    check("rtx5090", 64, 1.0);              // the same 24 blocks, of 64
}

TEST_CASE("register_occupancy follows the textbook's equations", "[public]") {
    const auto check = [](const char* device, int block_threads, int registers, double expected) {
        INFO(device << ", block_threads = " << block_threads << ", registers = " << registers);
        const auto limits = device_limits(device);
        const double occupancy = submission().call<register_occupancy>(in(limits), block_threads, registers);
        CHECK_THAT(occupancy, is_fraction(expected));
    };
    check("k20x", 256, 23, 1.0);    // 5,888 registers a block, 11 blocks, 88 warps, of which 64 count
    check("k20x", 256, 100, 0.25);  // 25,600 registers a block, 2 blocks, 16 warps of 64
    check("k20x", 512, 50, 0.5);    // 2 blocks of 16 warps
    check("k20x", 128, 50, 0.625);  // 10 blocks of 4 warps
    check("t4", 512, 64, 1.0);      // 2 blocks of 16 warps, of 32
    check("t4", 1024, 65, 0.0);     // 66,560 registers are more than there are
}

TEST_CASE("resident_blocks answers the examples of the task sheet", "[public]") {
    const auto check = [](const char* device, int block_threads, int registers, int shared_bytes, int expected) {
        INFO(device << ", block_threads = " << block_threads << ", registers = " << registers
                    << ", shared_bytes = " << shared_bytes);
        const auto limits = device_limits(device);
        const int blocks = submission().call<resident_blocks>(in(limits), block_threads, registers, shared_bytes);
        CHECK_THAT(blocks_per_multiprocessor(blocks), is(expected));
    };
    check("k20x", 256, 23, 0, 8);      // 64 warps of 8
    check("k20x", 256, 100, 0, 2);     // 3,328 registers a warp, 4 warps in each part, 16 warps
    check("k20x", 512, 50, 0, 2);      // 1,792 registers a warp, 9 warps in each part, 36 warps of 16
    check("k20x", 128, 50, 0, 9);      // the same 36 warps of 4: not 10 blocks
    check("k20x", 192, 20, 192, 10);   // 64 warps of 6
    check("k20x", 32, 20, 0, 16);      // no more than 16 blocks
    check("h100", 32, 20, 0, 32);      // no more than 32
    check("rtx4090", 32, 20, 0, 24);   // no more than 24
    check("b200", 32, 20, 8192, 25);   // 233,472 bytes of 9,216
    check("h100", 64, 37, 0, 24);      // 1,280 registers a warp, 12 warps in each part: 48 of 2, not 51
    check("h100", 256, 32, 45600, 4);  // 46,720 bytes with what is reserved, of 233,472
    check("a100", 256, 32, 49152, 3);  // of 167,936
    check("t4", 256, 32, 20000, 3);    // 20,224 bytes of 65,536
    check("h100", 1024, 64, 8192, 1);  // 2,048 registers a warp, 8 warps in each part, 32 warps of 32
    check("h100", 1024, 65, 8192, 0);  // 2,304 registers a warp: 32 warps of a block need more than it may have
}

namespace {

// Six devices of compute capabilities 3.5 to 9.0, 8 sizes of blocks, 6 numbers of registers: 288 cases.
void check_all_devices(int shared_bytes) {
    for (const auto& name : warpgrade::vgpu::profile_names()) {
        INFO("device " << name);
        const auto limits = device_limits(name);
        for (const int block_threads : {32, 64, 96, 128, 192, 256, 512, 1024}) {
            for (const int registers : {16, 37, 56, 64, 96, 168}) {
                check_blocks(limits, block_threads, registers, shared_bytes);
            }
        }
    }
}

}  // namespace

TEST_CASE("resident_blocks equals the device's answer, without shared memory", "[public]") { check_all_devices(0); }

TEST_CASE("resident_blocks equals the device's answer, with shared memory", "[public]") {
    check_all_devices(1000);
    check_all_devices(12288);
}

// The curves of the textbook's Figure 8.15: a K20X with 16 KiB of shared memory and its other numbers.
TEST_CASE("best_block and most_registers read the curves", "[public]") {
    auto limits = device_limits("k20x");
    limits[SHARED_BYTES_PER_BLOCK] = limits[SHARED_BYTES_PER_SM] = 16384;
    check_best_block(limits, 20, 192);  // 128: 16 blocks of 4 warps
    check_best_block(limits, 64, 0);
    check_best_block(limits, 20, 4096);
    check_most_registers(limits, 192, 10);
    check_most_registers(limits, 192, 8);
    const auto h100 = device_limits("h100");
    check_best_block(h100, 255, 0);
    check_most_registers(h100, 256, 8);   // 32
    check_most_registers(h100, 256, 2);   // 128
    check_most_registers(h100, 1024, 3);  // 0: 96 warps are too many, whatever they need
}

TEST_CASE("query_limits describes the device", "[public]") {
    const auto limits = submission().call<query_limits>(out<int>(int{DEVICE_LIMITS}));
    INFO("the elements in the order of DeviceLimit in occupancy.h");
    REQUIRE_THAT(limits, equals_exactly(running_device()));
}

TEST_CASE("power_of_four rounds down", "[public]") {
    const auto [threads, expected] = GENERATE(table<int, int>({{1, 1},
                                                               {3, 1},
                                                               {4, 4},
                                                               {15, 4},
                                                               {16, 16},
                                                               {63, 16},
                                                               {64, 64},
                                                               {512, 256},
                                                               {768, 256},
                                                               {1023, 256},
                                                               {1024, 1024}}));
    const int power = submission().call<power_of_four>(threads);
    INFO("threads = " << threads);
    CHECK_THAT(measure("power of four", power), is(expected));
}

// Two tiles of floats, one element of each a thread: 2 · 4 bytes a thread.
TEST_CASE("requiredSM counts two tiles of floats", "[public]") {
    const int block_threads = GENERATE(1, 4, 16, 64, 256, 768, 1024);
    const int bytes = submission().call<requiredSM>(block_threads);
    INFO("block_threads = " << block_threads);
    CHECK_THAT(measure("bytes of shared memory", bytes), is(8 * block_threads));
}

TEST_CASE("matmul_dynamic multiplies with every width", "[public]") {
    const int width = GENERATE(4, 8, 16, 32);
    check_product(64, 96, 32, width);
}

// Each of the m·n threads loads one element of A and one of B for each of the k / w pairs of tiles: 2·m·n·k / w
// elements. A row of a tile of 8 floats or more fills whole sectors of 32 bytes: m·n·k / (4·w) sectors. Never fewer
// than all of A and B once. Rows of a tile are read and written along threadIdx.x, which gives no bank conflicts; one
// extra wavefront in eight accesses is allowed, as in lab matmul. The width goes to constant memory by a copy of its
// own, alone or with a few numbers more.
TEST_CASE("matmul_dynamic works in dynamic shared memory", "[public][counter]") {
    const std::uint64_t w = GENERATE(8, 16, 32);
    const std::uint64_t m = 64, k = 128, n = 96;
    const auto run = profile_product(m, k, n, static_cast<int>(w));
    const auto& kernel = run.launches.front();
    const auto is_small = [](const auto& transfer) { return transfer.bytes <= 1024; };
    CHECK_THAT(measure("small copies to the device", std::ranges::count_if(run.transfers, is_small)),
               at_least(1, "the width, for constant memory"));
    CHECK_THAT(static_shared_bytes(kernel), is(0));
    CHECK_THAT(dynamic_shared_bytes(kernel), is(2 * w * w * sizeof(float), "two tiles of floats"));
    const auto& counters = counted(kernel);
    CHECK_THAT(sectors_loaded(counters), at_most(m * n * k / (4 * w), "whole sectors, shared by a tile"));
    CHECK_THAT(sectors_loaded(counters), at_least((m * k + k * n) / 8, "every element of A and B once"));
    CHECK_THAT(shared_store_requests(counters), at_least(warps(counters), "one for each warp"));
    CHECK_THAT(shared_load_requests(counters), at_least(warps(counters), "one for each warp"));
    const auto requests = counters.shared_load_requests + counters.shared_store_requests;
    CHECK_THAT(bank_conflicts(counters), at_most(requests / 8, "one in eight requests"));
}

TEST_CASE("the checks find no mistakes in matmul_dynamic", "[public][checks]") {
    const auto run = profile_product(64, 96, 32, GENERATE(8, 16));
    CHECK_THAT(run, clean());
}

// The launch's own record has the registers that the compiler gave the kernel. For other architectures than sm_90 it
// may give others.
TEST_CASE("my_registers is what the compiler says", "[public]") {
    const int size = MAX_WIDTH;
    const auto kernel = check_product(size, size, size, 16);
    const int registers = submission().call<my_registers>();
    const auto told = measure("registers of a thread, by my_registers", registers);
    if (running_device() == device_limits("h100"))
        CHECK_THAT(told, is(static_cast<int>(kernel.registers_per_thread), "by the compiler, for this launch"));
    else
        CHECK_THAT(told, between(1, 255));
}

TEST_CASE("my_blocks and api_blocks agree with the launch", "[public]") {
    const auto limits = running_device();  // which on a real GPU says itself how many blocks its limits allow
    const int registers = submission().call<my_registers>(), size = MAX_WIDTH;
    for (const int width : {4, 8, 16, 32}) {
        INFO("width = " << width << ", my_registers = " << registers);
        const auto kernel = check_product(size, size, size, width);
        const int block = width * width, mine = submission().call<my_blocks>(width);
        CHECK_THAT(measure("blocks per multiprocessor, by my_blocks", mine),
                   is(oracle::resident_blocks(limits, block, std::clamp(registers, 1, 255), 8 * block),
                      "with your registers and the device's limits"));
        const int by_device = static_cast<int>(kernel.occupancy.blocks_per_multiprocessor);
        CHECK_THAT(measure("blocks per multiprocessor, by api_blocks", submission().call<api_blocks>(width)),
                   is(by_device, "by the device, for this launch"));
        CHECK_THAT(measure("blocks per multiprocessor, by the device's limits",
                           oracle::resident_blocks(
                               limits, block, static_cast<int>(kernel.registers_per_thread),
                               static_cast<int>(kernel.static_shared_bytes + kernel.config.dynamic_shared_bytes))),
                   is(by_device, "by the device, for this launch"));
    }
}

// The width follows from the kernel's own registers, which its launch tells, and from the limits of the device.
TEST_CASE("chosen_width follows the occupancy API", "[public]") {
    const auto limits = running_device();
    const int size = MAX_WIDTH;
    const auto registers = static_cast<int>(check_product(size, size, size, 16).registers_per_thread);
    for (const int most_threads : {1024, 1000, 512, 300, 100, 64, 63, 20, 4, 3}) {
        INFO("most_threads = " << most_threads << ", registers of a thread = " << registers);
        const int width = submission().call<chosen_width>(most_threads);
        CHECK_THAT(measure("tile width", width), is(oracle::chosen_width(limits, registers, most_threads)));
    }
    const auto A = uniform(size * size), B = uniform(size * size);
    const auto [width, C] = submission().call<matmul_best>(in(A), in(B), out<float>(size * size), size, size, size);
    CHECK_THAT(measure("tile width", width), is(oracle::chosen_width(limits, registers, 1024)));
    CHECK_THAT(C, near(oracle::matmul(A, B, size, size, size)).shape(size, size));
}

TEST_CASE("speed of matmul_best on 192 × 192 matrices", "[public][speed]") {
    const int size = size_to_time(192, 512);
    const auto A = uniform(size * size), B = uniform(size * size);
    const auto compared = compare_with_starter<matmul_best>(in(A), in(B), out<float>(size * size), size, size, size);
    const auto& [width, C] = compared.submission.output;
    INFO("the speed counts once the product is right, computed with the width that is returned");
    REQUIRE_THAT(C, near(oracle::matmul(A, B, size, size, size)).shape(size, size));
    const auto& kernel = compared.submission.kernel();
    REQUIRE_THAT(threads_per_block(kernel), is(static_cast<double>(width) * width, "width · width"));
    REQUIRE_THAT(thread_instructions(kernel),
                 at_least(size * size * size, "the products must be computed on the device"));
    report_speedup(compared);
}
