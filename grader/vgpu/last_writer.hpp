// Who wrote each word of an allocation last: a launch, a copy, a fill (device/writer.hpp). Kept when the origin of
// outputs is asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "device/writer.hpp"
#include "vgpu/host_pages.hpp"

namespace warpgrade::vgpu {

class LastWriter {
  public:
    static constexpr std::uint64_t word_bytes = 4;

    explicit LastWriter(std::uint64_t bytes) : words_((bytes + word_bytes - 1) / word_bytes), tags_(words_ * 2) {}

    // The words that a range touches. Offsets are checked by whoever calls; several host threads may write at once, to
    // different words (a launch in which they meet is run again serially).
    void note(std::uint64_t offset, std::uint64_t bytes, device::WriterTag who) {
        const std::uint64_t first = offset / word_bytes;
        std::fill_n(tags() + first, (offset + bytes + word_bytes - 1) / word_bytes - first, who);
    }
    // As `bytes` bytes of another allocation (or of this one) from `from` on.
    void copy(std::uint64_t offset, const LastWriter& other, std::uint64_t from, std::uint64_t bytes) {
        const std::uint64_t count = std::min(
            {(bytes + word_bytes - 1) / word_bytes, words_ - offset / word_bytes, other.words_ - from / word_bytes});
        const device::WriterTag* source = other.tags() + from / word_bytes;
        device::WriterTag* target = tags() + offset / word_bytes;
        if (source < target)  // as memmove
            std::copy_backward(source, source + count, target + count);
        else
            std::copy_n(source, count, target);
    }
    [[nodiscard]] std::span<const device::WriterTag> words() const { return {tags(), words_}; }
    [[nodiscard]] device::WriterTag at(std::uint64_t offset) const { return tags()[offset / word_bytes]; }
    // Nobody has written anything.
    void forget() { tags_.reset(); }

    // For launches that are undone: the words of `bytes` bytes from `offset` on, both multiples of 4.
    void save(std::uint64_t offset, std::uint64_t bytes, std::byte* to) const {
        std::memcpy(to, tags() + offset / word_bytes,
                    (bytes + word_bytes - 1) / word_bytes * sizeof(device::WriterTag));
    }
    void restore(std::uint64_t offset, std::uint64_t bytes, const std::byte* from) {
        std::memcpy(tags() + offset / word_bytes, from,
                    (bytes + word_bytes - 1) / word_bytes * sizeof(device::WriterTag));
    }

  private:
    [[nodiscard]] device::WriterTag* tags() const { return reinterpret_cast<device::WriterTag*>(tags_.data()); }
    std::uint64_t words_;
    HostPages tags_;
};

}  // namespace warpgrade::vgpu
