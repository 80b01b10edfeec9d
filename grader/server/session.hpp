// One CUDA context: the state behind one worker's connection, and the operations of the protocol on it. It trusts no
// field of a message: unknown handles, ranges outside allocations and wrong sizes get error replies, frames that break
// the protocol throw wire::ProtocolError and end the connection.
//
// Errors follow CUDA's rules. What is wrong with a call is that call's error. A fault while a kernel runs is reported
// by the next operation that waits for the device; from then on the context is dead and every operation reports it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/analysis.hpp"
#include "device/device.hpp"
#include "device/protocol.hpp"
#include "server/journal.hpp"
#include "server/migrations.hpp"
#include "server/origin_log.hpp"
#include "server/stream_order.hpp"

namespace warpgrade::device {

class Session {
  public:
    // `order_streams`: look for work that uses the same memory in streams that nothing orders, if the device tells what
    // its work uses.
    Session(Device& device, Journal& journal, OriginLog& origin, bool order_streams = true)
        : device_(device),
          analysis_(device.analysis()),
          journal_(journal),
          origin_(origin),
          ordering_(order_streams && analysis_) {}

    // Executes one frame and appends what it answers to output(). Call it only while output() is empty, or holds
    // replies to requests that may_be_posted().
    void handle(const wire::Header& header, std::span<const std::byte> payload);
    // Bytes for the client; take them away, then call refill(): a read goes on with its next piece.
    [[nodiscard]] std::vector<std::byte>& output() { return output_; }
    [[nodiscard]] const std::vector<std::byte>& output() const { return output_; }
    void refill();
    // The call that the judge made has returned, and the device is idle from here on.
    void end_call();
    // The connection has ended: adds what the program left undone to the journal, once.
    void finish();
    // The file that goes with the first byte of output(), if any.
    [[nodiscard]] Descriptor& attachment() { return attachment_; }
    [[nodiscard]] Migrations& migrations() { return migrations_; }

  private:
    struct Fault {
        int code = 0;
        std::string message;
        bool reported = false;
    };
    struct Event {
        bool timing = true;
        bool recorded = false;
    };
    // A transfer whose data frames are on their way in.
    struct Incoming {
        wire::Op op;
        std::uint32_t sequence = 0;
        std::uint64_t total = 0, received = 0;
        wire::Region region;
        wire::Transfer transfer;
        bool discard = false;  // a fault is pending: the queue no longer moves
        std::vector<std::byte> image;
        std::optional<DeviceError> failure;  // told at the end, when the client listens again
    };
    struct Outgoing {
        std::uint32_t sequence = 0;
        wire::Region region;
        std::uint64_t total = 0, sent = 0;
    };

#define WG_DEVICE_OP(name, when, meaning) void op_##name(wire::Reader& in, wire::Writer& out);
#include "device/protocol.def"
#undef WG_DEVICE_OP

    void dispatch(wire::Op op, wire::Reader& in, wire::Writer& out);
    void answer(const wire::Header& request, const std::function<void(wire::Writer&)>& body);
    void send(const wire::Header& request, const wire::Writer& reply);

    // Faults
    void report_fault();  // throws the pending fault, if any: the context is dead from here on
    [[nodiscard]] bool stalled() const { return fault_.code != 0; }

    // Streamed transfers (session_memory.cpp)
    void receive(const wire::Header& header, std::span<const std::byte> payload);
    void accept_piece(std::span<const std::byte> piece);
    void finish_incoming(wire::Writer& out);
    void start_incoming(Incoming incoming, wire::Reader& in, wire::Writer& out);
    template <class Visit>
    void for_each_host_part(const wire::Region& host, std::uint64_t offset, std::uint64_t bytes, Visit&& visit);
    void read_host(const wire::Region& host, std::uint64_t offset, std::span<std::byte> to);
    void write_host(const wire::Region& host, std::uint64_t offset, std::span<const std::byte> from);
    // The bytes have been moved: their transfer takes its place in its stream.
    void moved(TransferTime::Kind kind, const wire::Transfer& transfer, std::uint64_t bytes, bool page_locked);
    enum class Use { writes, reads, sets };
    void check_region(const wire::Region& region, const char* what, Use use);

    // What the call at hand did wrong (session_diagnose.cpp): it fails all the same.
    [[nodiscard]] Diagnostic found(const Rule& rule, std::string message) const;
    [[nodiscard]] std::optional<KnownMemory> known_memory(DevicePtr address) const {
        return analysis_ ? analysis_->known_memory(address) : std::nullopt;
    }
    [[nodiscard]] std::optional<KnownMemory> memory_before(DevicePtr address) const;
    void diagnose_free(DevicePtr address);
    // `bytes` bytes from an offset of what is at the address.
    void diagnose_range(DevicePtr address, std::uint64_t offset, std::uint64_t bytes, Use use);
    void diagnose_launch(FunctionId function, const DeviceError& failure);
    void report_leaks();

    // Who touches which memory in which stream (session_order.cpp).
    void order_copy(StreamOrder::Operation::Kind kind, const wire::Transfer& transfer, const wire::Region* destination,
                    const wire::Region* source);
    void order_launch(FunctionId function, StreamId stream);
    void order_free(DevicePtr address, StreamId stream);
    void order_idle_free(DevicePtr address);
    void touch(const StreamOrder::OperationPtr& operation, const wire::Region& region, MemoryUse use, bool& told);
    void touch(const StreamOrder::OperationPtr& operation, const MemoryAccess& access, bool& told);
    void note_managed(DevicePtr address, std::uint64_t bytes);
    [[nodiscard]] bool kernels_run() const;
    void host_touched(DevicePtr address, std::uint64_t code, bool writes);
    void tell_unseen(const StreamOrder::Operation& write, DevicePtr memory, const char* when);

    // Handles (throw invalid_resource_handle, invalid_device_function)
    StreamId checked_stream(std::uint32_t id) const;
    Event& checked_event(std::uint32_t id);
    ModuleId checked_module(std::uint32_t id) const;
    FunctionId checked_function(std::uint32_t id) const;

    [[nodiscard]] std::uint64_t dynamic_shared_limit(FunctionId function) const;
    void launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params);
    LaunchRecord record_of(FunctionId function, const LaunchConfig& config, const FunctionInfo& info);
    void collect(FunctionId function, const LaunchConfig& config, const FunctionInfo& info);

    Device& device_;
    Analysis* analysis_;  // null: the device tells nothing
    Journal& journal_;
    OriginLog& origin_;
    bool ordering_;
    StreamOrder order_;
    Migrations migrations_{device_};
    Fault fault_;
    std::set<DevicePtr> allocations_;
    std::set<DevicePtr> host_allocations_;  // those of them that the worker maps
    std::set<DevicePtr> managed_;           // and of these and of the modules' variables, the managed ones
    std::map<DevicePtr, StreamOrder::OperationPtr> touched_early_;  // of those, what the host was told not to have seen
    std::map<ModuleId, std::uint64_t> modules_;                     // and the bytes of its image
    std::uint64_t image_bytes_ = 0;                                 // of them all
    std::unordered_map<FunctionId, ModuleId> functions_;
    std::unordered_map<FunctionId, std::uint64_t> dynamic_shared_;  // what set_dynamic_shared allowed
    std::unordered_set<ImageId> images_;
    std::unordered_set<StreamId> streams_{0};
    std::unordered_map<EventId, Event> events_;
    StreamId next_stream_ = 1;
    EventId next_event_ = 1;
    std::uint32_t current_sequence_ = 0, last_sequence_ = 0;
    std::uint64_t current_code_ = 0;                 // where the program is
    std::map<std::uint32_t, Diagnostic> unseen_;     // launches that failed, until the program looks; by request
    static constexpr std::size_t max_unseen = 1024;  // kept; who ignores more of them is told of these
    bool left_ = false, finished_ = false;
    std::optional<Incoming> incoming_;
    std::optional<Outgoing> outgoing_;
    std::vector<std::byte> output_;
    Descriptor attachment_;
};

}  // namespace warpgrade::device
