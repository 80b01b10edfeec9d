#include "vgpu/model/profile.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace warpgrade::vgpu {
namespace {

constexpr std::uint32_t KiB = 1024, MiB = 1024 * KiB;

// One row per device. The limits are from the table of compute capabilities in the CUDA programming guide, the rest
// from the vendor's white papers and data sheets, or from what deviceQuery prints. Bandwidths are those that a copy
// reaches, about nine tenths of the data sheet's. L2 rates and latencies are rounded from published microbenchmarks.
struct Row {
    const char* name;
    const char* full_name;
    int major, minor;
    std::uint32_t sms, threads_per_sm, blocks_per_sm;
    std::uint32_t shared_optin, shared_per_sm;  // per block that opts in; per multiprocessor
    std::uint32_t l1_bytes, l2_bytes;
    std::uint64_t memory_mib;
    double clock_ghz, memory_clock_ghz;
    std::uint32_t bus_bits;
    double dram_bytes_per_ns, l2_bytes_per_ns;
    double issue_per_cycle, arithmetic_latency, shared_latency, l1_latency, l2_latency, dram_latency;
    std::uint32_t double_units;
    std::uint32_t l2_halves = 1;
};

constexpr Row rows[] = {
    {"h100",    "NVIDIA H100 80GB HBM3 (virtual)",
     9,         0,
     132,       2048,
     32,        227 * KiB,
     228 * KiB, 256 * KiB,
     50 * MiB,  81079,
     1.98,      2.619,
     5120,      3000,
     5500,      4,
     4,         23,
     33,        260,
     600,       64,
     2},
    {"h200",    "NVIDIA H200 (virtual)",
     9,         0,
     132,       2048,
     32,        227 * KiB,
     228 * KiB, 256 * KiB,
     60 * MiB,  143155,
     1.98,      3.201,
     6016,      4200,
     5500,      4,
     4,         23,
     33,        260,
     600,       64,
     2},
    {"b200",    "NVIDIA B200 (virtual)",
     10,        0,
     148,       2048,
     32,        227 * KiB,
     228 * KiB, 256 * KiB,
     126 * MiB, 182630,
     1.965,     3.996,
     7680,      6900,
     9000,      4,
     4,         23,
     37,        300,
     700,       64,
     2},
    {"rtx5090", "NVIDIA GeForce RTX 5090 (virtual)",
     12,        0,
     170,       1536,
     24,        99 * KiB,
     100 * KiB, 128 * KiB,
     96 * MiB,  32117,
     2.655,     14.001,
     512,       1610,
     6500,      4,
     4,         25,
     37,        300,
     650,       2},
    {"rtx4090", "NVIDIA GeForce RTX 4090 (virtual)",
     8,         9,
     128,       1536,
     24,        99 * KiB,
     100 * KiB, 128 * KiB,
     72 * MiB,  24256,
     2.535,     10.501,
     384,       910,
     5000,      4,
     4,         23,
     33,        270,
     560,       2},
    {"a100",    "NVIDIA A100-SXM4-40GB (virtual)",
     8,         0,
     108,       2048,
     32,        163 * KiB,
     164 * KiB, 192 * KiB,
     40 * MiB,  40370,
     1.41,      1.215,
     5120,      1400,
     3800,      4,
     4,         23,
     33,        200,
     470,       64,
     2},
    {"rtx3060", "NVIDIA GeForce RTX 3060 Laptop GPU (virtual)",
     8,         6,
     30,        1536,
     16,        99 * KiB,
     100 * KiB, 128 * KiB,
     3 * MiB,   5938,
     1.425,     7.001,
     192,       300,
     1000,      4,
     4,         23,
     33,        220,
     480,       2},
    {"t4",     "Tesla T4 (virtual)",
     7,        5,
     40,       1024,
     16,       64 * KiB,
     64 * KiB, 96 * KiB,
     4 * MiB,  14910,
     1.59,     5.001,
     256,      270,
     1200,     4,
     4,        19,
     32,       190,
     430,      2},
    {"k2200",  "Quadro K2200 (virtual)",
     5,        0,
     5,        2048,
     32,       48 * KiB,
     64 * KiB, 24 * KiB,
     2 * MiB,  4040,
     1.124,    2.505,
     128,      70,
     220,      4,
     6,        24,
     82,       210,
     370,      4},
    {"k20x",      "Tesla K20X (virtual)",
     3,           5,
     14,          2048,
     16,          48 * KiB,
     48 * KiB,    16 * KiB,
     3 * MiB / 2, 5700,
     0.732,       2.6,
     384,         180,
     500,         5,
     9,           48,
     80,          190,
     300,         64},
};

Profile make(const Row& row) {
    Profile profile;
    profile.full_sms = row.sms;
    profile.issue_per_cycle = row.issue_per_cycle;
    profile.double_units = row.double_units;
    profile.l2_halves = row.l2_halves;
    profile.arithmetic_latency = row.arithmetic_latency;
    profile.shared_latency = row.shared_latency;
    profile.l1_latency = row.l1_latency;
    profile.l2_latency = row.l2_latency;
    profile.dram_latency = row.dram_latency;

    device::DeviceProperties& p = profile.properties;
    p.name = row.full_name;
    p.profile = row.name;
    p.major = row.major;
    p.minor = row.minor;
    p.multi_processor_count = row.sms;
    p.max_threads_per_block = 1024;
    p.max_threads_per_multi_processor = row.threads_per_sm;
    p.max_blocks_per_multi_processor = row.blocks_per_sm;
    p.regs_per_block = p.regs_per_multiprocessor = 65536;
    p.shared_mem_per_block = 48 * KiB;
    p.shared_mem_per_block_optin = row.shared_optin;
    p.shared_mem_per_multiprocessor = row.shared_per_sm;
    p.reserved_shared_mem_per_block = row.major >= 8 ? KiB : 0;
    p.total_global_mem = row.memory_mib * MiB;
    p.l2_cache_bytes = row.l2_bytes;
    p.l1_cache_bytes = row.l1_bytes;
    p.max_threads_dim = {1024, 1024, 64};
    p.max_grid_size = {0x7fffffff, 65535, 65535};
    p.clock_ghz = row.clock_ghz;
    p.memory_clock_ghz = row.memory_clock_ghz;
    p.memory_bus_bits = row.bus_bits;
    p.dram_bytes_per_ns = row.dram_bytes_per_ns;
    p.l2_bytes_per_ns = row.l2_bytes_per_ns;
    return profile;
}

}  // namespace

std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    for (const Row& row : rows) names.emplace_back(row.name);
    return names;
}

Profile find_profile(std::string_view name) {
    const std::string_view base = name.substr(0, name.find(':'));
    const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return base == r.name; });
    if (row == std::end(rows)) {
        std::string known;
        for (const std::string& each : profile_names()) known += (known.empty() ? "" : ", ") + each;
        throw ProfileError("unknown device profile '" + std::string(base) + "'; use one of " + known +
                           ", or part of one, such as h100:4 for 4 multiprocessors, or all of it: h100:all");
    }
    Profile profile = make(*row);
    if (base.size() == name.size()) return profile;
    const std::string_view digits = name.substr(base.size() + 1);
    if (digits == "all") return slice(profile, profile.full_sms);
    std::uint32_t sms = 0;
    const auto number = std::from_chars(digits.data(), digits.data() + digits.size(), sms);
    if (number.ec != std::errc{} || number.ptr != digits.data() + digits.size()) {
        throw ProfileError("'" + std::string(digits) +
                           "' is not a number of multiprocessors; write for example h100:4 or h100:all");
    }
    return slice(profile, sms);
}

Profile slice(const Profile& profile, std::uint32_t sms) {
    const std::uint32_t all = profile.properties.multi_processor_count;
    if (sms == 0 || sms > all) {
        throw ProfileError("a slice of " + profile.properties.profile + " has 1 to " + std::to_string(all) +
                           " multiprocessors, not " + std::to_string(sms));
    }
    Profile part = profile;
    if (2 * sms <= all) part.l2_halves = 1;  // its multiprocessors lie in one half
    const double share = static_cast<double>(sms) / all;
    device::DeviceProperties& p = part.properties;
    p.multi_processor_count = sms;
    p.dram_bytes_per_ns *= share;
    p.l2_bytes_per_ns *= share;
    p.l2_cache_bytes = p.l2_cache_bytes * sms / all;
    if (sms < part.full_sms)  // shows the slice wherever the name is printed
        p.name = p.name.substr(0, p.name.find(" (virtual")) + " (virtual, " + std::to_string(sms) + " of " +
                 std::to_string(part.full_sms) + " SMs)";
    return part;
}

}  // namespace warpgrade::vgpu
