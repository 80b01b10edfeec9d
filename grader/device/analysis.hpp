// What an analysed device reports besides results and time: counters, accesses, findings, the writer of each word, and
// times on its clock. A device may lack any of it; an unknown value is never reported as zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/order.hpp"
#include "device/record.hpp"

namespace warpgrade::device {

// Host-visible memory as the device sees it between two operations.
struct HostMemoryView {
    DevicePtr address;
    std::span<const std::byte> bytes;
    std::span<const WriterTag> writers;  // of each word
    std::uint64_t version;               // changes whenever the bytes do
};

// Bytes that host code wrote to host-visible memory.
struct HostData {
    DevicePtr address;
    std::vector<std::byte> bytes;
};

// The allocation at an address, live or freed; for messages.
struct FoundMemory {
    MemoryPlace place;
    DevicePtr base = 0;
    bool freed = false;
    SourcePlace freed_at;
};

// Bytes of one allocation that a launch accessed, and how. Two atomics never conflict.
enum class MemoryUse : std::uint8_t { read, atomic, write };
struct MemoryAccess {
    DevicePtr address = 0;
    std::uint64_t bytes = 0;
    MemoryUse use = MemoryUse::read;
    [[nodiscard]] bool operator==(const MemoryAccess&) const = default;
};

class Analysis {
  public:
    virtual ~Analysis() = default;

    // Records of launches since the last call, in launch order.
    virtual std::vector<LaunchRecord> take_records() = 0;
    // What the checks found since the last call.
    virtual std::vector<Diagnostic> take_diagnostics() { return {}; }
    // The memory that holds the address, or held it until it was freed.
    [[nodiscard]] virtual std::optional<FoundMemory> find_memory(DevicePtr) const { return std::nullopt; }

    // Makes later launches report accesses byte by byte, which costs time, or by whole allocations.
    virtual void set_exact_accesses([[maybe_unused]] bool exactly) {}
    // What the last launch read, wrote and changed atomically: disjoint pieces for each use.
    virtual std::vector<MemoryAccess> take_accesses() { return {}; }
    // True if host code may read the kernel's results while it runs.
    [[nodiscard]] virtual bool talks_to_host(FunctionId) const { return false; }

    // For later launches, of a device that was opened for another order than forward.
    virtual void set_order(Order) {}

    // True if the device keeps what check_origin() needs (origin.hpp).
    [[nodiscard]] virtual bool keeps_origin() const { return false; }
    // False if launches are checked and do nothing.
    [[nodiscard]] virtual bool runs_kernels() const { return true; }
    // Which bytes of its arguments the kernel reads, as far as the last of them; nothing where that is not known.
    [[nodiscard]] virtual std::optional<std::vector<bool>> read_arguments(FunctionId) const { return std::nullopt; }
    virtual void begin_call() {}  // numbers launches from 1 again and forgets all writers
    // The last writer of each 4-byte word, starting at the address.
    virtual void read_writers(DevicePtr, std::span<WriterTag> words) const { std::ranges::fill(words, writer::nobody); }
    virtual void mark_written(DevicePtr, std::uint64_t /*bytes*/, WriterTag) {}
    // Bytes that host code wrote to host-visible memory and that the device has read since the last call.
    virtual std::vector<HostData> take_host_data() { return {}; }
    virtual void visit_host_memory(const std::function<void(const HostMemoryView&)>&) {}

    // Transfers since the last call, in the order of issue, and the times at which the host knew that work was done:
    // the ends of synchronising calls, of blocking transfers and of queries answered with yes.
    virtual BoundedList<TransferRecord> take_transfers() { return {}; }
    virtual BoundedList<double> take_waits() { return {}; }
};

}  // namespace warpgrade::device
