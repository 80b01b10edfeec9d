// One CUDA context: the state of one worker's connection, and the operations of the protocol on it. It trusts no field
// of a message: unknown handles, ranges outside allocations and wrong sizes get error replies; frames that break the
// protocol throw wire::ProtocolError, which ends the connection.
//
// Errors follow CUDA's rules. An invalid call returns its own error. A fault of a running kernel is reported by the
// next operation that waits for the device; from then on the context is dead, and every operation reports the fault.
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

namespace warpgrade::server {

class Session {
  public:
    // `order_streams`: racecheck between streams, if the device reports its work's accesses.
    Session(Device& device, Journal& journal, OriginLog& origin, bool order_streams = true)
        : device_(device),
          analysis_(device.analysis()),
          journal_(journal),
          origin_(origin),
          ordering_(order_streams && analysis_) {}

    // Executes one frame and appends its reply to output(), which must be empty or hold replies to posted requests.
    void handle(const wire::Header& header, std::span<const std::byte> payload);
    // Bytes for the client. After removing them, call refill() for the next piece of a read.
    [[nodiscard]] std::vector<std::byte>& output() { return output_; }
    [[nodiscard]] const std::vector<std::byte>& output() const { return output_; }
    void refill();
    // The judge's call has returned, and the device is idle from here on.
    void end_call();
    // The device has thrown a kernel's fault while nobody waited for it.
    void note_fault(const DeviceError& fault);
    // The connection has ended. Adds leaks and unchecked errors to the journal, once.
    void finish();
    // The file to send with the first byte of output(), if any.
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
        std::uint64_t created = 0;  // the call's place in the program
    };
    // A transfer whose data frames are still arriving.
    struct Incoming {
        wire::Op op;
        std::uint32_t sequence = 0;
        std::uint64_t total = 0, received = 0;
        wire::Region region;
        wire::Transfer transfer;
        bool discard = false;  // a fault has stopped the queue
        std::vector<std::byte> image;
        std::optional<DeviceError> failure;  // reported when the client has sent everything
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
    void report_fault();  // throws the pending fault, if any, after which the context is dead
    [[nodiscard]] bool stalled() const { return fault_.code != 0; }

    // Streamed transfers (session_memory.cpp)
    void receive(const wire::Header& header, std::span<const std::byte> payload);
    void accept_piece(std::span<const std::byte> piece);
    void finish_incoming(wire::Writer& out);
    void start_incoming(Incoming incoming, wire::Reader& in, wire::Writer& out);
    template <class Visit>
    void for_each_host_part(const wire::Region& host, std::uint64_t offset, std::uint64_t bytes, Visit&& visit);
    template <class Visit>
    void for_each_shared_part(const wire::Region& host, const wire::Region& device, Visit&& visit);
    void read_host(const wire::Region& host, std::uint64_t offset, std::span<std::byte> to);
    void write_host(const wire::Region& host, std::uint64_t offset, std::span<const std::byte> from);
    void copy_to_host(const wire::Region& region, const wire::Region& host);
    enum class Use { writes, reads, sets };
    void check_region(const wire::Region& region, const char* what, Use use);
    void free_allocation(DevicePtr address);

    // Findings about the current call (session_diagnose.cpp), besides the error that it returns.
    [[nodiscard]] Diagnostic make_finding(const Rule& rule, std::string message) const;
    [[nodiscard]] std::optional<FoundMemory> find_memory(DevicePtr address) const {
        return analysis_ ? analysis_->find_memory(address) : std::nullopt;
    }
    [[nodiscard]] std::optional<FoundMemory> memory_before(DevicePtr address) const;
    void diagnose_free(DevicePtr address);
    // The range begins `offset` bytes after the address.
    void diagnose_range(DevicePtr address, std::uint64_t offset, std::uint64_t bytes, Use use);
    void diagnose_launch(FunctionId function, const DeviceError& failure);
    void report_leaks();
    void report_leaked_handles();

    // Accesses to memory by stream (session_order.cpp).
    void order_copy(StreamOrder::Operation::Kind kind, const wire::Transfer& transfer, const wire::Region* destination,
                    const wire::Region* source);
    void order_launch(FunctionId function, StreamId stream);
    void order_free(DevicePtr address, StreamId stream);
    void order_free_when_idle(DevicePtr address);
    void touch(const StreamOrder::OperationPtr& operation, const wire::Region& region, MemoryUse use, bool& reported);
    void touch(const StreamOrder::OperationPtr& operation, const MemoryAccess& access, bool& reported);
    void add_managed(DevicePtr address, std::uint64_t bytes);
    [[nodiscard]] bool has_running_writes() const;
    void check_host_use(DevicePtr address, std::uint64_t code, bool writes);
    void report_unseen_write(const StreamOrder::Operation& write, DevicePtr memory, const char* when);

    // Handles (throw invalid_resource_handle, invalid_device_function)
    StreamId checked_stream(std::uint32_t id) const;
    Event& checked_event(std::uint32_t id);
    ModuleId checked_module(std::uint32_t id) const;
    FunctionId checked_function(std::uint32_t id) const;

    [[nodiscard]] std::uint64_t dynamic_shared_limit(FunctionId function) const;
    void launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params);
    LaunchRecord take_record(FunctionId function, const LaunchConfig& config, const FunctionInfo& info);
    void launch_children();
    void record_launch(FunctionId function, const LaunchConfig& config, const FunctionInfo& info);

    Device& device_;
    Analysis* analysis_;  // null if the device has none
    Journal& journal_;
    OriginLog& origin_;
    bool ordering_;
    StreamOrder order_;
    Migrations migrations_{device_};
    Fault fault_;
    std::set<DevicePtr> allocations_;
    struct ReservedMemory {
        std::uint64_t bytes = 0;
        std::string origin;
        std::uint64_t code = 0;
    };
    std::map<DevicePtr, ReservedMemory> reserved_;  // for graphs
    unsigned depth_ = 0;                            // of launches by kernels
    std::set<DevicePtr> host_allocations_;          // those that the worker maps
    std::set<DevicePtr> managed_;                   // managed allocations and variables
    std::map<DevicePtr, StreamOrder::OperationPtr>
        early_host_uses_;                        // reported uses by the host, and the running write
    std::map<ModuleId, std::uint64_t> modules_;  // sizes of their images
    std::uint64_t image_bytes_ = 0;              // of all modules
    std::unordered_map<FunctionId, ModuleId> functions_;
    std::unordered_map<FunctionId, std::uint64_t> dynamic_shared_;  // what set_dynamic_shared allowed
    std::unordered_set<ImageId> images_;
    // With the places in the program that created them; 0 for a default stream.
    std::unordered_map<StreamId, std::uint64_t> streams_{{0, 0}};
    std::unordered_map<EventId, Event> events_;
    StreamId next_stream_ = 1;
    EventId next_event_ = 1;
    std::uint32_t current_sequence_ = 0, last_sequence_ = 0;
    std::uint64_t current_code_ = 0;  // the call's place in the program
    std::map<std::uint32_t, Diagnostic>
        unchecked_launches_;  // failed launches that the program has not checked, by request
    static constexpr std::size_t max_unchecked_launches = 1024;
    bool left_ = false, finished_ = false;
    std::optional<Incoming> incoming_;
    std::optional<Outgoing> outgoing_;
    std::vector<std::byte> output_;
    Descriptor attachment_;
};

}  // namespace warpgrade::server
