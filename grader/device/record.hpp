// What is recorded of a program's work on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace warpgrade::device {

struct Counters {
#define WG_COUNTER(field, ncu, meaning) std::uint64_t field = 0;
#include "device/counters.def"
#undef WG_COUNTER
    Counters& operator+=(const Counters& other) {
#define WG_COUNTER(field, ncu, meaning) field += other.field;
#include "device/counters.def"
#undef WG_COUNTER
        return *this;
    }
    friend bool operator==(const Counters&, const Counters&) = default;
};

struct LineCounters {
    std::string file;
    std::uint32_t line = 0;
    Counters counters;
};

// What one kernel launch did. `error` is empty when it finished.
struct LaunchRecord {
    std::string kernel;     // mangled
    std::string demangled;  // without parameter list where possible: "matmul_tiled"
    LaunchConfig config;
    std::uint32_t registers_per_thread = 0, static_shared_bytes = 0;
    Occupancy occupancy;
    // What only an analysed device tells.
    std::optional<Counters> counters;
    std::uint64_t most_block_instructions = 0;  // warp instructions of the block that executed most
    std::optional<double> start_ns, duration_ns;
    std::vector<LineCounters> lines;  // ordered by file and line; only with line information
    int error_code = 0;
    std::string error;
    bool part_of_result = true;                    // the judge's finding (origin_check.hpp)
    std::vector<DevicePtr> read_from, written_to;  // the beginnings of the allocations that it has read and written
};

struct Interval {  // of the modelled clock
    double start_ns = 0, end_ns = 0;
};

struct TransferRecord {
    using Kind = TransferTime::Kind;
    Kind kind = Kind::to_device;
    StreamId stream = 0;
    std::uint64_t bytes = 0;
    Interval when;
};

// Memory that a program asked for. `call` is what its own runtime says it called: "cudaMalloc", "cudaMallocManaged",
// "cudaHostAlloc" (cudaMallocHost too), "cudaHostRegister", …
struct AllocationRecord {
    std::string call;
    std::uint64_t bytes = 0;
};

// A list of bounded length, and whether all that belongs into it is in it.
template <class T>
struct Listed {
    std::vector<T> items;
    bool all = true;
    void add(const T& item, std::size_t most) {
        if (items.size() < most)
            items.push_back(item);
        else
            all = false;
    }
};

}  // namespace warpgrade::device
