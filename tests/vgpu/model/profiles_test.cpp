// The numbers of the device profiles. Labs' thresholds were derived from them: after a change, prove all labs again.
#include <fmt/format.h>

#include <map>
#include <string>

#include "support/approx.hpp"
#include "support/contains.hpp"
#include "vgpu/model/profile.hpp"

using namespace warpgrade::vgpu;

TEST_CASE("the profiles' numbers are those that the labs were proved with") {
    const std::map<std::string, std::string> numbers = {
        {"h100",
         "9 0 132 2048 32 65536 233472 232448 1024 262144 52428800 85017493504 1.98 2.619 5120 3000 5500 4 4 23 33 260 "
         "600 64"},
        {"h200",
         "9 0 132 2048 32 65536 233472 232448 1024 262144 62914560 150108897280 1.98 3.201 6016 4200 5500 4 4 23 33 "
         "260 600 64"},
        {"b200",
         "10 0 148 2048 32 65536 233472 232448 1024 262144 132120576 191501434880 1.965 3.996 7680 6900 9000 4 4 23 37 "
         "300 700 64"},
        {"rtx5090",
         "12 0 170 1536 24 65536 102400 101376 1024 131072 100663296 33677115392 2.655 14.001 512 1610 6500 4 4 25 37 "
         "300 650 2"},
        {"rtx4090",
         "8 9 128 1536 24 65536 102400 101376 1024 131072 75497472 25434259456 2.535 10.501 384 910 5000 4 4 23 33 270 "
         "560 2"},
        {"a100",
         "8 0 108 2048 32 65536 167936 166912 1024 196608 41943040 42331013120 1.41 1.215 5120 1400 3800 4 4 23 33 200 "
         "470 64"},
        {"rtx3060",
         "8 6 30 1536 16 65536 102400 101376 1024 131072 3145728 6226444288 1.425 7.001 192 300 1000 4 4 23 33 220 "
         "480 2"},
        {"t4",
         "7 5 40 1024 16 65536 65536 65536 0 98304 4194304 15634268160 1.59 5.001 256 270 1200 4 4 19 32 190 430 2"},
        {"k2200",
         "5 0 5 2048 32 65536 65536 49152 0 24576 2097152 4236247040 1.124 2.505 128 70 220 4 6 24 82 210 370 4"},
        {"k20x",
         "3 5 14 2048 16 65536 49152 49152 0 16384 1572864 5976883200 0.732 2.6 384 180 500 5 9 48 80 190 300 64"},
    };
    CHECK(profile_names().size() == numbers.size());
    for (const std::string& name : profile_names()) {
        const Profile profile = find_profile(name);
        const auto& p = profile.properties;
        const std::string found =
            fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", p.major, p.minor,
                        profile.full_sms, p.max_threads_per_multi_processor, p.max_blocks_per_multi_processor,
                        p.regs_per_multiprocessor, p.shared_mem_per_multiprocessor, p.shared_mem_per_block_optin,
                        p.reserved_shared_mem_per_block, p.l1_cache_bytes, p.l2_cache_bytes, p.total_global_mem,
                        p.clock_ghz, p.memory_clock_ghz, p.memory_bus_bits, p.dram_bytes_per_ns, p.l2_bytes_per_ns,
                        profile.issue_per_cycle, profile.arithmetic_latency, profile.shared_latency, profile.l1_latency,
                        fmt::format("{} {} {}", profile.l2_latency, profile.dram_latency, profile.double_units));
        CAPTURE(name);
        CHECK(numbers.at(name) == found);
    }
}

TEST_CASE("what all profiles have in common") {
    for (const std::string& name : profile_names()) {
        const auto p = find_profile(name).properties;
        CAPTURE(name);
        CHECK(p.profile == name);
        CHECK(p.name.ends_with(" (virtual)"));
        CHECK(p.warp_size == 32);
        CHECK(p.max_threads_per_block == 1024);
        CHECK(p.regs_per_block == p.regs_per_multiprocessor);
        CHECK(p.shared_mem_per_block == 49152);
        CHECK(p.multi_processor_count == find_profile(name).full_sms);
        CHECK((p.max_threads_dim.x == 1024 && p.max_threads_dim.y == 1024 && p.max_threads_dim.z == 64));
        CHECK((p.max_grid_size.x == 2147483647 && p.max_grid_size.y == 65535 && p.max_grid_size.z == 65535));
    }
}

TEST_CASE("a slice has its part of what the multiprocessors share, and says so") {
    const auto whole = find_profile("h100").properties, part = find_profile("h100:33").properties;
    CHECK(part.multi_processor_count == 33);
    CHECK(find_profile("h100:33").full_sms == 132);
    CHECK(part.dram_bytes_per_ns == whole.dram_bytes_per_ns / 4);
    CHECK(part.l2_bytes_per_ns == whole.l2_bytes_per_ns / 4);
    CHECK(part.l2_cache_bytes == whole.l2_cache_bytes / 4);
    CHECK(part.l1_cache_bytes == whole.l1_cache_bytes);
    CHECK(part.name == "NVIDIA H100 80GB HBM3 (virtual, 33 of 132 SMs)");
    CHECK(find_profile("h100:132").properties.name == whole.name);
    CHECK(find_profile("h100:all").properties.l2_cache_bytes == whole.l2_cache_bytes);
    // Also for a slice.
    const auto smaller = slice(find_profile("h100:33"), 11);
    CHECK(smaller.properties.dram_bytes_per_ns == Approx(whole.dram_bytes_per_ns / 12));
    CHECK(smaller.properties.name == "NVIDIA H100 80GB HBM3 (virtual, 11 of 132 SMs)");
    CHECK_THROWS_AS(slice(find_profile("h100:33"), 34), ProfileError);
}

TEST_CASE("profiles and slices that there are not are refused with what there is") {
    const auto message = [](const std::string& name) -> std::string {
        try {
            find_profile(name);
        } catch (const ProfileError& e) {
            return e.what();
        }
        return "";
    };
    CHECK_THAT(
        message("v100"),
        Contains("unknown device profile 'v100'; use one of h100, h200, b200, rtx5090, rtx4090, a100, rtx3060, t4,"));
    CHECK_THAT(message("h100:0"), Contains("a slice of h100 has 1 to 132 multiprocessors, not 0"));
    CHECK_THAT(message("h100:133"), Contains("not 133"));
    for (const char* odd : {"h100:", "h100:4x", "h100:x", "h100:-1", "h100:99999999999"})
        CHECK_THAT(message(odd), Contains("is not a number of multiprocessors"));
    CHECK(message("h100:1").empty());
    CHECK(message("h100:132").empty());
}
