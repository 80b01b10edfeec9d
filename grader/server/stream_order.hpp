// The order of a program's work by streams, events, the legacy default stream and waits of the host. On a real device,
// two operations without an order may run at the same time or in either order. This device runs each to its end at
// once, so it needs this to find such races.
//
// Each stream counts its operations. A vector clock (Fidge, Mattern) holds, for each stream, the number of the last
// operation that is over, so that "a comes before b" is one comparison. Each piece of memory has its last writer and
// the readers since, as long as a later operation may have no order with them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/analysis.hpp"
#include "server/device_names.hpp"

namespace warpgrade::server {

class StreamOrder {
  public:
    struct Operation {
        enum class Kind : std::uint8_t { kernel, to_device, to_host, within_device, fill, free } kind;
        std::string kernel;      // readable name, for messages
        std::uint64_t code = 0;  // for messages
        StreamId stream = 0;     // for messages
        std::uint32_t lane = 0, number = 0;
        bool talks_to_host = false;
    };
    using OperationPtr = std::shared_ptr<const Operation>;
    // An earlier operation on the same bytes without an order to the current one.
    struct Conflict {
        OperationPtr earlier;
        MemoryUse earlier_use, use;
        DevicePtr address = 0;
    };
    // Beyond it, adjacent pieces of memory are merged.
    static constexpr std::size_t max_pieces = std::size_t{1} << 20;
    // Streams with unfinished work, including destroyed ones.
    static constexpr std::size_t max_lanes = 2048;

    StreamOrder();

    // Returns false if there are max_lanes already.
    bool add_stream(StreamId stream, bool blocking);
    void remove_stream(StreamId stream);

    // The next operation of a stream.
    OperationPtr begin(Operation::Kind kind, StreamId stream, std::uint64_t code, std::string kernel = {},
                       bool talks_to_host = false);
    // Records an access, and returns the first conflict.
    std::optional<Conflict> touch(const OperationPtr& operation, const MemoryAccess& access);

    void record(EventId event, StreamId stream);
    void wait(StreamId stream, EventId event);
    void forget_event(EventId event) { events_.erase(event); }

    void host_waits_for_stream(StreamId stream);
    void host_waits_for_event(EventId event);
    void host_waits_for_device();
    // A host function in the stream may tell other host code that all work before it is over.
    void host_function(StreamId stream) { join(heard_, settle(stream).clock); }
    // For calls that wait implicitly, such as cudaFree.
    void device_is_idle();

    // An operation that wrote these bytes and that the program has never waited for.
    [[nodiscard]] OperationPtr unseen_write(DevicePtr address, std::uint64_t bytes) const;
    // A kernel that writes these bytes, may still run, and requires host code to wait.
    [[nodiscard]] OperationPtr running_write(DevicePtr address, std::uint64_t bytes) const;
    // Visits the pieces of memory that such kernels write, by address.
    void for_each_running_write(DevicePtr address, std::uint64_t bytes,
                                const std::function<void(DevicePtr begin, DevicePtr end)>& visit) const;
    void forget_memory(DevicePtr address, std::uint64_t bytes);
    void reset();

    [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

  private:
    using Clock = std::vector<std::uint32_t>;  // by lane; missing entries are 0
    // A stream, or several streams one after the other.
    struct Lane {
        Clock clock;                  // what its next operation comes after
        std::uint32_t number = 0;     // of its last operation
        std::uint64_t host_seen = 0;  // the host_version_ that the clock includes
        bool blocking = true, alive = true;
    };
    struct Use {
        OperationPtr by;
        MemoryUse how;
    };
    struct Piece {
        DevicePtr end = 0;
        std::vector<Use> uses;
    };
    using Pieces = std::map<DevicePtr, Piece>;

    static void join(Clock& clock, const Clock& other);
    static bool holds(const Clock& clock, const Operation& operation) {
        return operation.lane < clock.size() && clock[operation.lane] >= operation.number;
    }
    [[nodiscard]] Pieces::const_iterator first_piece(DevicePtr address) const;
    [[nodiscard]] const Use* running_write(const Piece& piece) const;
    std::uint32_t lane_of(StreamId stream) const { return by_stream_.at(stream); }
    // Adds the waits that happen without a request of the program to the stream's clock.
    Lane& settle(StreamId stream);
    void step(std::uint32_t lane);
    void host_joins(const Clock& clock);
    Pieces::iterator split(Pieces::iterator piece, DevicePtr at);
    std::optional<Conflict> add(Piece& piece, DevicePtr begin, const OperationPtr& operation, MemoryUse how);
    void tidy();

    std::vector<Lane> lanes_;
    std::unordered_map<StreamId, std::uint32_t> by_stream_;
    std::unordered_map<EventId, Clock> events_;
    Clock host_, asked_;  // what is over for the host; the same without implicit waits
    Clock heard_;         // what host functions may have reported
    std::uint64_t host_version_ = 1;
    Pieces pieces_;
    std::size_t tidy_at_ = 4096;
};

}  // namespace warpgrade::server
