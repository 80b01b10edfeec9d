// Which work of a program comes before which: by streams, events, the legacy default stream's waiting, and by what the
// host has waited for. Two operations that nothing orders may run at the same time on a real device, in either order;
// here each runs to its end at once, so that only this tells.
//
// Each stream counts its operations. A clock holds, for each stream, up to which of them is over: those that an
// operation comes after (vector clocks, as of Fidge and Mattern). So "a comes before b" is one comparison. Of memory it
// is remembered, piece by piece, who wrote it last and who has read it since, as long as somebody could still come
// without order to that.
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

namespace warpgrade::device {

class StreamOrder {
  public:
    // Something that a stream does. The first members are for messages only.
    struct Operation {
        enum class Kind : std::uint8_t { kernel, to_device, to_host, within_device, fill, free } kind;
        std::string kernel;  // readable name
        std::uint64_t code = 0;
        StreamId stream = 0;
        std::uint32_t lane = 0, number = 0;  // its place in the order
        bool talks_to_host = false;
    };
    using OperationPtr = std::shared_ptr<const Operation>;
    // An earlier operation that has no order with the one that touches the same bytes now.
    struct Conflict {
        OperationPtr earlier;
        MemoryUse earlier_use, use;
        DevicePtr address = 0;
    };
    // Pieces of memory that are told apart; beyond it, neighbours become one.
    static constexpr std::size_t most_pieces = std::size_t{1} << 20;
    // Streams whose work may be under way, those included that the program has destroyed since.
    static constexpr std::size_t most_lanes = 2048;

    StreamOrder();

    // False: there are too many whose work may still be under way.
    bool add_stream(StreamId stream, bool blocking);
    void remove_stream(StreamId stream);

    // The next operation of a stream.
    OperationPtr begin(Operation::Kind kind, StreamId stream, std::uint64_t code, std::string kernel = {},
                       bool talks_to_host = false);
    // It touches memory. Tells the first earlier operation that may be under way at that time.
    std::optional<Conflict> touch(const OperationPtr& operation, const MemoryAccess& access);

    void record(EventId event, StreamId stream);
    void wait(StreamId stream, EventId event);
    void forget_event(EventId event) { events_.erase(event); }

    // The host goes on when it is over.
    void host_waits_for_stream(StreamId stream);
    void host_waits_for_event(EventId event);
    void host_waits_for_device();
    // Host code runs in the order of the stream, and may tell other host code that all before it is over.
    void host_function(StreamId stream) { join(heard_, settle(stream).clock); }
    // The device is idle and the host goes on, but the program has not asked for that, as in cudaFree.
    void device_is_idle();

    // An operation that wrote these bytes, and that the program has never waited for.
    [[nodiscard]] OperationPtr unseen_write(DevicePtr address, std::uint64_t bytes) const;
    // A kernel that writes these bytes and may be running, if host code has to wait before it uses them.
    [[nodiscard]] OperationPtr running_write(DevicePtr address, std::uint64_t bytes) const;
    // The pieces of memory that such kernels write, in order.
    void for_each_running_write(DevicePtr address, std::uint64_t bytes,
                                const std::function<void(DevicePtr begin, DevicePtr end)>& visit) const;
    // The memory is gone: what comes to lie there is new.
    void forget_memory(DevicePtr address, std::uint64_t bytes);
    void reset();

    [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

  private:
    using Clock = std::vector<std::uint32_t>;  // by lane, shorter where the rest is 0
    // What one stream does, and after its end another one: its operations, and what the next one comes after.
    struct Lane {
        Clock clock;
        std::uint32_t number = 0;     // of its last operation
        std::uint64_t host_seen = 0;  // host_version_ that is part of the clock
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
    // Brings in what the stream's next operation waits for by itself.
    Lane& settle(StreamId stream);
    void step(std::uint32_t lane);
    void host_joins(const Clock& clock);
    Pieces::iterator split(Pieces::iterator piece, DevicePtr at);
    std::optional<Conflict> add(Piece& piece, DevicePtr begin, const OperationPtr& operation, MemoryUse how);
    void tidy();

    std::vector<Lane> lanes_;
    std::unordered_map<StreamId, std::uint32_t> by_stream_;
    std::unordered_map<EventId, Clock> events_;
    Clock host_, asked_;  // what is over for the host; the same without what it has not asked for
    Clock heard_;         // what host functions may have told of
    std::uint64_t host_version_ = 1;
    Pieces pieces_;
    std::size_t tidy_at_ = 4096;
};

}  // namespace warpgrade::device
