// Bytes from a stream socket, as the frames that they are. One look at the socket takes a small frame whole, and what
// has come behind it, which is kept for the next one: a frame costs one system call at most. Used on both sides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "device/protocol.hpp"

namespace warpgrade::device::wire {

class FrameBuffer {
  public:
    // Is there something that needs no further bytes: a whole frame, or a header that is wrong?
    [[nodiscard]] bool ready() const {
        if (held() < sizeof(Header)) return false;
        const Header header = peek();
        return wrong_with(header) != nullptr || held() >= sizeof header + header.size;
    }
    // Where the next bytes go, while nothing is ready(): no more of them than belong to the frame, if it is large.
    std::span<std::byte> room() {
        const std::size_t wanted =
            std::max(usual_bytes, held() < sizeof(Header) ? 0 : sizeof(Header) + std::size_t{peek().size});
        if (begin_ + wanted > bytes_.size()) {
            std::memmove(bytes_.data(), bytes_.data() + begin_, held());
            end_ = held(), begin_ = 0;
            if (bytes_.size() < wanted) bytes_.resize(wanted);
        }
        return std::span(bytes_).subspan(end_, begin_ + wanted - end_);
    }
    void added(std::size_t bytes) { end_ += bytes; }

    // The frame that is ready(); it stays until next(). Throws ProtocolError if its header is wrong.
    [[nodiscard]] Header header() const { return checked(peek()); }
    [[nodiscard]] std::span<const std::byte> payload() const {
        return std::span(bytes_).subspan(begin_ + sizeof(Header), peek().size);
    }
    void next() {
        begin_ += sizeof(Header) + peek().size;
        if (begin_ == end_) begin_ = end_ = 0;
    }

  private:
    static constexpr std::size_t usual_bytes = 16 << 10;

    [[nodiscard]] std::size_t held() const { return end_ - begin_; }
    [[nodiscard]] Header peek() const {
        Header header;
        std::memcpy(&header, bytes_.data() + begin_, sizeof header);
        return header;
    }

    std::vector<std::byte> bytes_ = std::vector<std::byte>(usual_bytes);
    std::size_t begin_ = 0, end_ = 0;  // of what was received and not taken yet
};

}  // namespace warpgrade::device::wire
