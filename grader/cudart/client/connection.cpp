#include "cudart/client/connection.hpp"

#include "cudart/client/call_site.hpp"
#include "cudart/client/program_end.hpp"
#include "device/address_space.hpp"
#include "device/descriptor_passing.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace warpgrade::cudart {
namespace {

// Raises the signal that reading `data` raises, if any.
void touch(std::span<const std::byte> data) {
    constexpr std::size_t page_bytes = 4096;
    const volatile std::byte* const bytes = data.data();
    for (std::size_t at = 0; at < data.size(); at += page_bytes) static_cast<void>(bytes[at]);
    if (!data.empty()) static_cast<void>(bytes[data.size() - 1]);
}

// `data` may be memory that the program has given us, readable or not.
void send_all(int descriptor, std::span<const std::byte> frames, std::span<const std::byte> data) {
    while (!frames.empty() || !data.empty()) {
        iovec parts[] = {{const_cast<std::byte*>(frames.data()), frames.size()},
                         {const_cast<std::byte*>(data.data()), data.size()}};
        msghdr message{};
        message.msg_iov = parts, message.msg_iovlen = std::size(parts);
        const ssize_t put = ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
        if (put < 0 && errno == EFAULT) touch(data);
        if (put < 0 && (errno == EINTR || errno == EFAULT)) continue;
        if (put <= 0) throw wire::ProtocolError("the device server no longer listens");
        const std::size_t first = std::min(static_cast<std::size_t>(put), frames.size());
        frames = frames.subspan(first), data = data.subspan(static_cast<std::size_t>(put) - first);
    }
}

}  // namespace

Connection& Connection::get() {
    static Connection& connection = *new Connection;
    return connection;
}

cudaError_t Connection::ready() {
    switch (state_) {
        case State::unopened:
            return open();
        case State::open:
            return cudaSuccess;
        case State::none:
            return cudaErrorNoDevice;
        case State::lost:
            return cudaErrorDevicesUnavailable;
        case State::dead:
            return fault_;
    }
    return cudaErrorUnknown;
}

cudaError_t Connection::open() {
    const char* text = std::getenv(wire::descriptor_variable);
    const char* end = text == nullptr ? nullptr : text + std::strlen(text);
    if (text == nullptr || std::from_chars(text, end, descriptor_).ptr != end || descriptor_ < 0) {
        std::fprintf(stderr, "warpgrade: no device: run this program through warpgrade (%s is not set)\n",
                     wire::descriptor_variable);
        state_ = State::none;
        return cudaErrorNoDevice;
    }
    state_ = State::open;
    thread_ = std::this_thread::get_id();
    std::vector<std::byte> results;
    const cudaError_t status = call(Op::hello, Writer().put(wire::version), &results);
    if (status != cudaSuccess) return status;
    process_ = ::getpid();
    watch_program();
    return take(results, [&](Reader& reader) {
        properties_ = wire::get_properties(reader);
        device_begin_ = reader.get<std::uint64_t>();
        device_end_ = reader.get<std::uint64_t>();
    });
}

cudaError_t Connection::lose(const char* reason) {
    if (state_ == State::open) {
        std::fprintf(stderr, "warpgrade: the device was lost: %s\n", reason);
        ::shutdown(descriptor_, SHUT_RDWR);
    }
    state_ = State::lost;
    posted_.clear(), unsent_.clear();
    return cudaErrorDevicesUnavailable;
}

void Connection::send_frame(const wire::Header& header, const std::byte* payload, bool later) {
    const auto first = std::as_bytes(std::span(&header, 1));
    const std::span data(payload, header.size);
    unsent_.insert(unsent_.end(), first.begin(), first.end());
    if (later)
        unsent_.insert(unsent_.end(), data.begin(), data.end());
    else
        flush(data);
}

void Connection::flush(std::span<const std::byte> data) {
    send_all(descriptor_, unsent_, data);
    unsent_.clear();
}

std::uint32_t Connection::send(Op op, const Writer& arguments, bool later) {
    if (op != Op::host_touches) tell_host_touches();
    received_file_.reset();
    pipelining_.record_request(op);
    if (std::this_thread::get_id() != thread_) pipelining_.stop();
    wire::Header header;
    header.op = op;
    header.sequence = ++sequence_;
    header.code = CallSite::current();
    header.size = static_cast<std::uint32_t>(arguments.bytes().size());
    if (header.size > wire::max_payload_bytes) throw wire::ProtocolError("request too large");
    send_frame(header, arguments.bytes().data(), later);
    return header.sequence;
}

// The received file, if any, belongs to the frame.
std::span<const std::byte> Connection::receive_frame(wire::Header& header) {
    if (std::exchange(frame_taken_, false)) received_.pop();
    while (!received_.has_frame()) {
        const ssize_t got = device::receive_message(descriptor_, received_.free_space(), std::span(&received_file_, 1));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) throw wire::ProtocolError("the device server is gone");
        received_.commit(static_cast<std::size_t>(got));
    }
    header = received_.header();
    frame_taken_ = true;
    return received_.payload();
}

cudaError_t Connection::receive_reply(Op op, std::uint32_t sequence, std::span<const std::byte>* results) {
    receive_posted();
    wire::Header header;
    Reader reader(receive_frame(header));
    if (header.op != op || header.sequence != sequence) throw wire::ProtocolError("a reply to a different request");
    output_waiting_ = (header.flags & wire::flag_output) != 0;
    kernels_running_ = (header.flags & wire::flag_running) != 0;
    const auto status = static_cast<cudaError_t>(reader.get<std::int32_t>());
    pipelining_.record_reply(op, status == cudaSuccess);
    if (status == cudaSuccess) {
        if (results != nullptr) *results = reader.get_rest();
        return cudaSuccess;
    }
    refusal_ = reader.get_string(wire::max_message_bytes);
    if ((header.flags & wire::flag_sticky) != 0 && state_ == State::open) {
        // The checks' findings explain all other errors.
        if (output_waiting_) print_output();
        if (status == cudaErrorNotSupported) std::fprintf(stderr, "warpgrade: not supported: %s\n", refusal_.c_str());
        fault_ = status;
        state_ = State::dead;
    } else if (status == cudaErrorNotSupported && printed_refusals_ < max_printed_refusals) {
        // A missing feature is not the program's mistake, so the message appears even if the program ignores the error.
        ++printed_refusals_;
        std::fprintf(stderr, "warpgrade: not supported: %s\n", refusal_.c_str());
    }
    return status;
}

cudaError_t Connection::call(Op op, const Writer& arguments, std::vector<std::byte>* results) {
    if (const cudaError_t status = ready(); status != cudaSuccess) return status;
    const Busy busy(*this);
    try {
        std::span<const std::byte> reply;
        const cudaError_t status = receive_reply(op, send(op, arguments), &reply);
        if (results != nullptr && status == cudaSuccess) results->assign(reply.begin(), reply.end());
        const bool waited = wire::ops.at(static_cast<std::size_t>(op)).when == wire::When::wait;
        if (waited && output_waiting_ && state_ == State::open) print_output();
        close_running_pages(op);
        return status;
    } catch (const wire::ProtocolError& failure) {
        return lose(failure.what());
    }
}

cudaError_t Connection::call_for_file(Op op, const Writer& arguments, std::vector<std::byte>& results,
                                      device::Descriptor& file) {
    if (const cudaError_t status = call(op, arguments, &results); status != cudaSuccess) return status;
    if (!received_file_) return lose("shared memory without its file");
    file = std::move(received_file_);
    return cudaSuccess;
}

void Connection::print_output() {
    std::span<const std::byte> results;
    const cudaError_t status = receive_reply(Op::take_output, send(Op::take_output, Writer()), &results);
    if (status != cudaSuccess) return;
    const std::string text = Reader(results).get_string(wire::max_payload_bytes);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

// The device server judges these uses by the requests that it has received. It is unknown whether a use during another
// thread's request came before that request, so such uses are dropped.
void Connection::tell_host_touches() {
    Writer request;
    for (const HostTouch& touch : host_touches_.take())
        if (touch.after == sequence_) request.put(touch.address).put(touch.code).put(std::uint8_t{touch.writes});
    if (!request.bytes().empty() && state_ == State::open)
        receive_reply(Op::host_touches, send(Op::host_touches, request));
}

void Connection::close_running_pages(Op after) {
    if (!kernels_running_ || state_ != State::open) {
        if (host_touches_.any_closed()) host_touches_.close({});
        return;
    }
    if (wire::ops.at(static_cast<std::size_t>(after)).when == wire::When::host || !opens_pages()) return;
    std::span<const std::byte> results;
    if (receive_reply(Op::running_writes, send(Op::running_writes, Writer()), &results) != cudaSuccess) return;
    std::vector<HostTouches::Pages> pages;
    for (Reader reader(results); reader.remaining() != 0;) {
        const auto begin = reader.get<std::uint64_t>();
        pages.push_back({begin, reader.get<std::uint64_t>()});
    }
    host_touches_.close(std::move(pages));
}

bool Connection::open_page(std::uint64_t address, bool writes, std::uint64_t code) noexcept {
    namespace space = device::address_space;
    if (address < space::host_base || address >= space::host_end) return false;
    return host_touches_.open({address, code, writes, sequence_}, busy_ == 0 && ::getpid() == process_);
}

// Sends a request and its data, in several frames if necessary.
cudaError_t Connection::send_pieces(Op op, const Writer& fields, std::vector<std::byte>* results,
                                    const std::byte* source, const wire::Region& rows) {
    if (const cudaError_t status = ready(); status != cudaSuccess) return status;
    const std::size_t total = rows.bytes();
    const auto gather = [&](std::size_t offset, std::size_t bytes, std::vector<std::byte>& out) {
        const std::size_t before = out.size();
        out.resize(before + bytes);
        rows.for_each_part(offset, bytes, [&](std::size_t from, std::size_t done, std::size_t part) {
            std::copy_n(source + from, part, out.data() + before + done);
        });
    };
    Writer request = fields;
    if (total <= wire::chunk_bytes) {
        gather(0, total, request.bytes());
        return call(op, request, results);
    }
    const Busy busy(*this);
    if (const cudaError_t status = call(op, request); status != cudaSuccess) return status;
    try {
        wire::Header header;
        header.op = Op::data;
        header.sequence = sequence_;
        std::vector<std::byte> piece;
        for (std::size_t offset = 0; offset < total; offset += header.size) {
            header.size = static_cast<std::uint32_t>(std::min(wire::chunk_bytes, total - offset));
            piece.clear();
            if (!rows.contiguous()) gather(offset, header.size, piece);
            send_frame(header, rows.contiguous() ? source + offset : piece.data());
        }
        std::span<const std::byte> reply;
        const cudaError_t status = receive_reply(op, sequence_, &reply);
        if (results != nullptr && status == cudaSuccess) results->assign(reply.begin(), reply.end());
        return status;
    } catch (const wire::ProtocolError& failure) {
        return lose(failure.what());
    }
}

cudaError_t Connection::write(const wire::Region& region, const wire::Transfer& transfer, HostRows source) {
    Writer fields;
    region.put(fields);
    transfer.put(fields);
    if (transfer.host != 0) return call(Op::write, fields);
    if (const cudaError_t status = ready(); status != cudaSuccess) return status;
    if (pipelining_.can_write(region, transfer) && region.width <= max_unsent_bytes && may_post()) {
        fields.put_bytes({source.data, region.width});
        return post(Op::write, fields);
    }
    return send_pieces(Op::write, fields, nullptr, source.data, {0, source.pitch, region.width, region.height});
}

cudaError_t Connection::load_module(const std::byte* image, std::size_t bytes, std::uint32_t& module) {
    std::vector<std::byte> results;
    Writer fields;
    fields.put(std::uint64_t{bytes});
    const cudaError_t status = send_pieces(Op::load_module, fields, &results, image, wire::Region::range(0, bytes));
    if (status != cudaSuccess) return status;
    return take(results, [&](Reader& reader) { module = reader.get<std::uint32_t>(); });
}

cudaError_t Connection::read(const wire::Region& region, const wire::Transfer& transfer, HostRows destination) {
    const wire::Region rows{0, destination.pitch, region.width, region.height};
    const auto scatter = [&](std::size_t offset, std::span<const std::byte> piece) {
        rows.for_each_part(offset, piece.size(), [&](std::size_t to, std::size_t done, std::size_t part) {
            std::copy_n(piece.data() + done, part, destination.data + to);
        });
    };
    Writer request;
    region.put(request);
    transfer.put(request);
    if (transfer.host != 0) return call(Op::read, request);
    const std::size_t total = region.bytes();
    std::span<const std::byte> piece;
    if (const cudaError_t status = ready(); status != cudaSuccess) return status;
    const Busy busy(*this);
    try {
        const std::uint32_t sequence = send(Op::read, request);
        if (const cudaError_t status = receive_reply(Op::read, sequence, &piece); status != cudaSuccess) return status;
        if (total > wire::chunk_bytes) {
            for (std::size_t done = 0; done < total; done += piece.size()) {
                wire::Header header;
                piece = receive_frame(header);
                if (header.op != Op::data || header.sequence != sequence ||
                    piece.size() != std::min(wire::chunk_bytes, total - done))
                    throw wire::ProtocolError("a piece of a different transfer");
                scatter(done, piece);
            }
        } else {
            if (piece.size() != total) throw wire::ProtocolError("a reply without its data");
            scatter(0, piece);
        }
        if (output_waiting_) print_output();
        close_running_pages(Op::read);
        return cudaSuccess;
    } catch (const wire::ProtocolError& failure) {
        return lose(failure.what());
    }
}

void Connection::tell_host_fault(std::uint64_t address, bool writes, std::uint64_t code) noexcept {
    const bool ours = address >= device_begin_ && address < device::address_space::host_end;
    if (state_ != State::open || busy_ != 0 || ::getpid() != process_) return;
    if (!ours) {
        if (send_at_once({})) skip_replies(posted_.size());
        return;
    }
    wire::Header header;
    std::array<std::byte, sizeof header + sizeof address + 1> frame;
    header.op = Op::host_fault;
    header.sequence = ++sequence_;
    header.size = sizeof address + 1;
    header.code = code;
    std::memcpy(frame.data(), &header, sizeof header);
    std::memcpy(frame.data() + sizeof header, &address, sizeof address);
    frame.back() = static_cast<std::byte>(writes);
    if (send_at_once(frame)) skip_replies(posted_.size() + 1);
}

void Connection::leave(bool in_good_order) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || state_ != State::open || busy_ != 0 || ::getpid() != process_) return;
    try {
        receive_posted();
    } catch (const std::exception& failure) {
        lose(failure.what());
        return;
    }
    try {
        tell_host_touches();
        if (in_good_order) receive_reply(Op::leave, send(Op::leave, Writer()));
    } catch (...) {  // the program ends anyway
    }
}

cudaError_t Connection::reset() {
    if (state_ == State::dead) {
        state_ = State::lost;
        return cudaSuccess;
    }
    return call(Op::reset);
}

}  // namespace warpgrade::cudart
