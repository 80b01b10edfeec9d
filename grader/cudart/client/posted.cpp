// Posted requests, which are known to succeed. If one fails after all, the device is lost, as after any other breach of
// the protocol.
#include <sys/socket.h>

#include <algorithm>

#include "cudart/client/connection.hpp"
#include "cudart/client/program_end.hpp"

namespace warpgrade::cudart {

// Only a program that the judge calls may post requests: it sends them at the end of each call, and if it is killed,
// its unsent ones do not matter. The requests of any other program must arrive even if it is killed.
bool Connection::may_post() const { return is_worker() && !output_waiting_; }

cudaError_t Connection::post(Op op, const Writer& arguments) {
    const Busy busy(*this);
    posted_.reserve(max_posted);
    try {
        if (posted_.size() == max_posted || unsent_.size() > max_unsent_bytes) receive_posted();
        posted_.push_back({op, send(op, arguments, true)});
        return cudaSuccess;
    } catch (const wire::ProtocolError& failure) {
        return lose(failure.what());
    }
}

void Connection::receive_posted() {
    flush();
    for (const Posted& request : posted_) {
        wire::Header header;
        Reader reader(receive_frame(header));
        if (header.op != request.op || header.sequence != request.sequence)
            throw wire::ProtocolError("a reply to a different request");
        if (reader.get<std::int32_t>() != cudaSuccess)
            throw wire::ProtocolError("a request failed that cannot fail: " + reader.get_string());
    }
    posted_.clear();
}

cudaError_t Connection::allocate(std::uint64_t bytes, const char* origin, std::uint64_t& address) {
    const cudaError_t status = call_for(Op::allocate, Writer().put(bytes).put_string(origin), address);
    if (status == cudaSuccess) pipelining_.record_allocation(address, bytes);
    return status;
}

cudaError_t Connection::free(std::uint64_t address) {
    if (const cudaError_t status = ready(); status != cudaSuccess) return status;
    const bool posts = pipelining_.record_free(address) && may_post();
    const Writer request = Writer().put(address);
    return posts ? post(Op::free_memory, request) : call(Op::free_memory, request);
}

// For signal handlers: sends the unsent requests and one more frame.
bool Connection::send_at_once(std::span<const std::byte> frame) noexcept {
    for (const auto bytes : {std::span<const std::byte>(unsent_), frame})
        if (!bytes.empty() &&
            ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
            return false;
    return true;
}

// Waits for the replies, so that the device has handled the requests before any process notices the program's end.
void Connection::skip_replies(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        wire::Header header;
        if (::recv(descriptor_, &header, sizeof header, MSG_WAITALL) != ssize_t{sizeof header}) return;
        char rest[256];
        while (header.size > 0) {
            const ssize_t got = ::recv(descriptor_, rest, std::min<std::size_t>(sizeof rest, header.size), 0);
            if (got <= 0) return;
            header.size -= static_cast<std::uint32_t>(got);
        }
    }
}

}  // namespace warpgrade::cudart
