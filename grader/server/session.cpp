// Frames, faults, handles; the host's operations. Memory is in session_memory.cpp, execution in session_execute.cpp.
#include "server/session.hpp"

#include <fmt/core.h>

#include <new>

#include "device/address_space.hpp"
#include "device/fields.hpp"

namespace warpgrade::server {
namespace {

using wire::Op;
using wire::Reader;
using wire::Writer;

const wire::OpInfo& op_info(Op op) { return wire::ops.at(static_cast<std::size_t>(op)); }

// Operations that work in a dead context.
bool works_after_fault(Op op) { return op == Op::hello || op == Op::take_output; }

}  // namespace

void Session::send(const wire::Header& request, const Writer& reply) {
    wire::Header header;
    header.op = request.op;
    header.sequence = request.sequence;
    header.flags = static_cast<std::uint16_t>((fault_.reported ? wire::flag_sticky : 0) |
                                              (journal_.has_output() ? wire::flag_output : 0) |
                                              (has_running_writes() ? wire::flag_running : 0));
    header.size = static_cast<std::uint32_t>(reply.bytes().size());
    const auto bytes = std::as_bytes(std::span(&header, 1));
    output_.insert(output_.end(), bytes.begin(), bytes.end());
    output_.insert(output_.end(), reply.bytes().begin(), reply.bytes().end());
}

// Sends the results that the body writes, or its error.
void Session::answer(const wire::Header& header, const std::function<void(Writer&)>& body) {
    Writer results;
    results.put(std::int32_t{error::success});
    const auto fail = [&](int code, const std::string& message) {
        Writer reply;
        reply.put(std::int32_t{code}).put_string(message, wire::max_message_bytes);
        send(header, reply);
        incoming_.reset();
        outgoing_.reset();
    };
    try {
        body(results);
    } catch (const DeviceError& failure) {
        // "Not ready" is no error, and the journal has the fault since the kernel ended.
        if (failure.code != error::not_ready && !fault_.reported)
            journal_.add_error(op_info(header.op).name, failure.code, failure.what());
        if (failure.sticky && !stalled()) fault_ = {failure.code, failure.what(), true};
        return fail(failure.code, failure.what());
    } catch (const std::bad_alloc&) {
        const char* message = "the device server is out of memory";
        journal_.add_error(op_info(header.op).name, error::memory_allocation, message);
        return fail(error::memory_allocation, message);
    } catch (const wire::ProtocolError&) {
        throw;
    } catch (const std::exception& failure) {
        const std::string message = fmt::format("device server: {}: {}", op_info(header.op).name, failure.what());
        journal_.add_internal_error(message);
        fault_ = {error::unknown, message, true};
        return fail(error::unknown, message);
    }
    send(header, results);
}

void Session::handle(const wire::Header& header, std::span<const std::byte> payload) {
    if (header.op == Op::data) return receive(header, payload);
    if (incoming_) throw wire::ProtocolError("a request in the middle of a transfer");
    if (header.sequence != last_sequence_ + 1) throw wire::ProtocolError("request out of order");
    last_sequence_ = current_sequence_ = header.sequence;
    current_code_ = header.code;
    answer(header, [&](Writer& out) {
        if (fault_.reported && !works_after_fault(header.op)) throw DeviceError(fault_.code, fault_.message, true);
        if (op_info(header.op).when == wire::When::wait) report_fault();
        origin_.record_decision(header.op, payload);
        Reader in(payload);
        dispatch(header.op, in, out);
        if (op_info(header.op).when != wire::When::wait) return;
        origin_.record_wait();
        journal_.print(device_.take_output());
    });
}

void Session::dispatch(Op op, Reader& in, Writer& out) {
    switch (op) {
#define WG_DEVICE_OP(name, when, meaning) \
    case Op::name:                        \
        return op_##name(in, out);
#include "device/protocol.def"
#undef WG_DEVICE_OP
    }
}

void Session::report_fault() {
    if (!stalled()) return;
    fault_.reported = true;
    throw DeviceError(fault_.code, fault_.message, true);
}

// The host gets the error when it next waits for the device, the judge at once.
void Session::note_fault(const DeviceError& fault) {
    if (stalled()) return;
    fault_ = {fault.code, fault.what(), false};
    journal_.add_error("launch", fault.code, fault.what());
}

StreamId Session::checked_stream(std::uint32_t id) const {
    if (!streams_.contains(id)) throw DeviceError(error::invalid_resource_handle, "not a stream of this context");
    return id;
}

Session::Event& Session::checked_event(std::uint32_t id) {
    const auto found = events_.find(id);
    if (found == events_.end()) throw DeviceError(error::invalid_resource_handle, "not an event of this context");
    return found->second;
}

ModuleId Session::checked_module(std::uint32_t id) const {
    if (!modules_.contains(id)) throw DeviceError(error::invalid_resource_handle, "not a module of this context");
    return id;
}

FunctionId Session::checked_function(std::uint32_t id) const {
    if (!functions_.contains(id)) throw DeviceError(error::invalid_device_function, "not a kernel of this context");
    return id;
}

void Session::op_hello(Reader& in, Writer& out) {
    const auto version = in.get<std::uint32_t>();
    in.expect_end();
    if (version != wire::version) throw wire::ProtocolError("different version of the protocol");
    wire::put(out, device_.properties());
    out.put(address_space::shared_base).put(address_space::global_end);
}

void Session::op_take_output(Reader& in, Writer& out) {
    in.expect_end();
    out.put_string(journal_.take_worker_output(), wire::max_payload_bytes);
}

// handle() takes data frames before it dispatches.
void Session::op_data(Reader&, Writer&) { throw wire::ProtocolError("data without a transfer"); }

void Session::op_reset(Reader& in, Writer&) {
    in.expect_end();
    device_.drain();
    for (const ImageId image : images_) device_.destroy_image(image);
    for (const DevicePtr address : allocations_) device_.free(address);
    for (const auto& [module, bytes] : modules_) device_.unload_module(module);
    image_bytes_ = 0;
    for (const auto& [stream, created] : streams_)
        if (stream != 0) device_.destroy_stream(stream);
    for (const auto& [event, state] : events_) device_.forget_event(event);
    order_.reset();
    if (analysis_) analysis_->set_exact_accesses(false);
    managed_.clear(), early_host_uses_.clear(), migrations_.clear();
    images_.clear(), allocations_.clear(), reserved_.clear(), host_allocations_.clear(), modules_.clear(),
        functions_.clear(), dynamic_shared_.clear(), events_.clear();
    streams_ = {{0, 0}};
}

}  // namespace warpgrade::server
