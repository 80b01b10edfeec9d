// The numbers of the device profiles. Labs' thresholds were derived with them: who changes one proves all labs again.
#include <fmt/format.h>

#include <map>
#include <string>

#include "judge/catch.hpp"
#include "vgpu/model/profile.hpp"

using namespace warpgrade::vgpu;

TEST_CASE("the profiles' numbers are those that the labs were proved with") {
    const std::map<std::string, std::string> numbers = {
        {"h100",
         "9 0 132 2048 32 65536 233472 232448 1024 262144 52428800 85017493504 1.98 2.619 5120 3000 5500 4 4 23 33 260 "
         "600"},
        {"a100",
         "8 0 108 2048 32 65536 167936 166912 1024 196608 41943040 42331013120 1.41 1.215 5120 1400 3800 4 4 23 33 200 "
         "470"},
        {"rtx3060",
         "8 6 30 1536 16 65536 102400 101376 1024 131072 3145728 6226444288 1.425 7.001 192 300 1000 4 4 23 33 220 "
         "480"},
        {"t4",
         "7 5 40 1024 16 65536 65536 65536 0 98304 4194304 15634268160 1.59 5.001 256 270 1200 4 4 19 32 190 430"},
        {"k2200",
         "5 0 5 2048 32 65536 65536 49152 0 24576 2097152 4236247040 1.124 2.505 128 70 220 4 6 24 82 210 370"},
        {"k20x", "3 5 14 2048 16 65536 49152 49152 0 16384 1572864 5976883200 0.732 2.6 384 180 500 5 9 48 80 190 300"},
    };
    CHECK(profile_names().size() == numbers.size());
    for (const std::string& name : profile_names()) {
        const Profile profile = find_profile(name);
        const auto& p = profile.properties;
        const std::string found = fmt::format(
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", p.major, p.minor, profile.full_sms,
            p.max_threads_per_multi_processor, p.max_blocks_per_multi_processor, p.regs_per_multiprocessor,
            p.shared_mem_per_multiprocessor, p.shared_mem_per_block_optin, p.reserved_shared_mem_per_block,
            p.l1_cache_bytes, p.l2_cache_bytes, p.total_global_mem, p.clock_ghz, p.memory_clock_ghz, p.memory_bus_bits,
            p.dram_bytes_per_ns, p.l2_bytes_per_ns, profile.issue_per_cycle, profile.arithmetic_latency,
            profile.shared_latency, profile.l1_latency, fmt::format("{} {}", profile.l2_latency, profile.dram_latency));
        CAPTURE(name);
        CHECK(numbers.at(name) == found);
    }
}
