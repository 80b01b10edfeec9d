// What an analysed device tells of its work besides results and time: counters, accesses, findings, who wrote what, and
// the moments of its clock. A device need have none of it: what is not known is never a zero.
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
#include "device/record.hpp"

namespace warpgrade::device {

// Memory that the worker maps, as the device sees it between two operations.
struct HostMemoryView {
    DevicePtr address;
    std::span<const std::byte> bytes;
    std::span<const WriterTag> writers;  // of each word
    std::uint64_t version;               // changes whenever the bytes do
};

// A run of bytes that host code wrote to such memory.
struct HostData {
    DevicePtr address;
    std::vector<std::byte> bytes;
};

// What is known of the memory at an address, live or freed: for messages.
struct KnownMemory {
    MemoryPlace place;
    DevicePtr base = 0;
    bool freed = false;
    SourcePlace freed_at;
};

// Bytes of one allocation that a launch touched, and how. Atomics do not disturb each other.
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
    [[nodiscard]] virtual std::optional<KnownMemory> known_memory(DevicePtr) const { return std::nullopt; }

    // Are the accesses of later launches told byte by byte, or by whole allocations? Exactly costs time.
    virtual void note_accesses([[maybe_unused]] bool exactly) {}
    // What the last launch read, wrote and changed atomically: disjoint pieces for each use.
    virtual std::vector<MemoryAccess> take_accesses() { return {}; }
    // May host code rightly look at what the kernel writes while it runs?
    [[nodiscard]] virtual bool talks_to_host(FunctionId) const { return false; }

    // What the origin of outputs is told from (origin.hpp). Is it kept?
    [[nodiscard]] virtual bool keeps_origin() const { return false; }
    // False: launches are checked and do nothing.
    [[nodiscard]] virtual bool runs_kernels() const { return true; }
    virtual void begin_call() {}  // launches are numbered from 1 on again, and nobody has written anything
    // Who has written the words that begin at the address, and 4 bytes further, and so on.
    virtual void writers_of(DevicePtr, std::span<WriterTag> words) const { std::ranges::fill(words, writer::nobody); }
    virtual void mark_written(DevicePtr, std::uint64_t /*bytes*/, WriterTag) {}
    // What host code wrote to memory that it maps, and the device has read since the last call of this function.
    virtual std::vector<HostData> take_host_data() { return {}; }
    virtual void visit_host_memory(const std::function<void(const HostMemoryView&)>&) {}

    // Transfers since the last call, in the order of issue, and when the host knew that work was done since it had
    // waited for it: the ends of synchronising calls and of blocking transfers, and of queries that were answered with
    // yes.
    virtual Listed<TransferRecord> take_transfers() { return {}; }
    virtual Listed<double> take_waits() { return {}; }
};

}  // namespace warpgrade::device
