// Splits the bytes of a stream socket into frames. It reads ahead, so that a small frame costs one system call at most.
// Used on both sides.
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
    // True if no further bytes are needed: there is a whole frame, or an invalid header.
    [[nodiscard]] bool has_frame() const {
        if (size() < sizeof(Header)) return false;
        const Header header = peek();
        return header_error(header) != nullptr || size() >= sizeof header + header.size;
    }
    // Where to put the next bytes while no frame is ready. For a large frame it ends at the frame's end.
    std::span<std::byte> free_space() {
        const std::size_t wanted =
            std::max(usual_bytes, size() < sizeof(Header) ? 0 : sizeof(Header) + std::size_t{peek().size});
        if (begin_ + wanted > bytes_.size()) {
            std::memmove(bytes_.data(), bytes_.data() + begin_, size());
            end_ = size(), begin_ = 0;
            if (bytes_.size() < wanted) bytes_.resize(wanted);
        }
        return std::span(bytes_).subspan(end_, begin_ + wanted - end_);
    }
    void commit(std::size_t bytes) { end_ += bytes; }

    // The frame that is ready; it stays until pop(). Throws ProtocolError if its header is invalid.
    [[nodiscard]] Header header() const { return validate(peek()); }
    [[nodiscard]] std::span<const std::byte> payload() const {
        return std::span(bytes_).subspan(begin_ + sizeof(Header), peek().size);
    }
    void pop() {
        begin_ += sizeof(Header) + peek().size;
        if (begin_ == end_) begin_ = end_ = 0;
    }

  private:
    static constexpr std::size_t usual_bytes = 16 << 10;

    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    [[nodiscard]] Header peek() const {
        Header header;
        std::memcpy(&header, bytes_.data() + begin_, sizeof header);
        return header;
    }

    std::vector<std::byte> bytes_ = std::vector<std::byte>(usual_bytes);
    std::size_t begin_ = 0, end_ = 0;  // of the received bytes
};

}  // namespace warpgrade::device::wire
