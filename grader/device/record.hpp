// Records of a program's work on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/access_trace.hpp"
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

// What one kernel launch did.
// The share of a launch's modelled time that it would not take without one cause. Causes overlap, so that their shares
// do not add up; "all" is without all of them.
struct CauseCost {
    std::string cause;  // "uncoalesced", "bank_conflicts", … (vgpu/model/advice.hpp)
    double share = 0;
};

// What it is worth that the checks found nothing in a launch.
struct AnyData {
    bool holds = false;   // they would find nothing with any contents of its arrays
    std::string because;  // otherwise: "address", "branch", "order", "calls" (vgpu/code/code.hpp) or "value"
    SourcePlace place;    // of the first instruction for which that is so
};

struct LaunchRecord {
    std::string kernel;     // mangled
    std::string demangled;  // without parameter list where possible: "matmul_tiled"
    LaunchConfig config;
    std::uint32_t registers_per_thread = 0, static_shared_bytes = 0;
    Occupancy occupancy;
    // From an analysed device only; times also from a real GPU.
    std::optional<Counters> counters;
    std::uint64_t sampled_blocks = 0;  // that ran, of a grid of more: counters and times are scaled. 0: all ran
    std::uint64_t most_block_instructions = 0;  // warp instructions of the block that executed the most
    std::optional<double> start_ns, duration_ns;
    std::vector<LineCounters> lines;   // ordered by file and line; only with line information
    std::vector<CauseCost> costs;      // those that are worth mentioning; only with advice
    std::optional<AccessTrace> trace;  // only if it was asked for
    std::optional<AnyData> any_data;   // only if all checks ran and found no error
    bool any_order = false;            // gives the same bits in each order of blocks, warps and lanes; false: not known
    int error_code = 0;
    std::string error;
    bool part_of_result = true;                    // set by the judge from OriginVerdict::not_part
    std::vector<DevicePtr> read_from, written_to;  // base addresses of the allocations that it read and wrote
};

struct Interval {  // of modelled time
    double start_ns = 0, end_ns = 0;
};

struct TransferRecord {
    using Kind = TransferTime::Kind;
    Kind kind = Kind::to_device;
    StreamId stream = 0;
    std::uint64_t bytes = 0;
    Interval when;
};

// An allocation. `call` is the CUDA function as the program's runtime reports it: "cudaMalloc", "cudaMallocManaged",
// "cudaHostAlloc" (also for cudaMallocHost), "cudaHostRegister", …
struct AllocationRecord {
    std::string call;
    std::uint64_t bytes = 0;
};

// A list of limited length.
template <class T>
struct BoundedList {
    std::vector<T> items;
    bool complete = true;  // no item was dropped
    void add(const T& item, std::size_t most) {
        if (items.size() < most)
            items.push_back(item);
        else
            complete = false;
    }
};

}  // namespace warpgrade::device
