// One bit for each byte of an allocation: whether it has been written. For initcheck.
#pragma once

#include <atomic>
#include <cstdint>

#include "vgpu/memory/host_pages.hpp"

namespace warpgrade::vgpu {

class DefinedBytes {
  public:
    explicit DefinedBytes(std::uint64_t bytes) : bytes_(bytes), bits_((bytes + 63) / 64 * 8), missing_(bytes) {}

    [[nodiscard]] bool complete() const { return missing_.load(std::memory_order_relaxed) == 0; }
    // Callers check offsets. Several host threads may define bytes at the same time.
    [[nodiscard]] bool all(std::uint64_t offset, std::uint64_t bytes) const;
    [[nodiscard]] bool none(std::uint64_t offset, std::uint64_t bytes) const;
    void define(std::uint64_t offset, std::uint64_t bytes);
    void undefine(std::uint64_t offset, std::uint64_t bytes);
    void reset();
    // Copies the state of `bytes` bytes of another allocation, from offset `from`; nullptr if all of it is defined.
    void copy(std::uint64_t offset, const DefinedBytes* other, std::uint64_t from, std::uint64_t bytes);

    // For launches that are undone: the bits of `bytes` bytes from `offset`; both are multiples of 64.
    void save(std::uint64_t offset, std::uint64_t bytes, std::byte* to) const;
    void restore(std::uint64_t offset, std::uint64_t bytes, const std::byte* from);

  private:
    // Calls f(word, mask) for each word of a range.
    template <class F>
    static void for_words(std::uint64_t offset, std::uint64_t bytes, F&& f) {
        for (std::uint64_t at = offset; at < offset + bytes;) {
            const std::uint64_t end = std::min(offset + bytes, (at / 64 + 1) * 64);
            const std::uint64_t count = end - at;
            f(at / 64, (count == 64 ? ~0ULL : (1ULL << count) - 1) << (at % 64));
            at = end;
        }
    }
    [[nodiscard]] std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(bits_.data()); }

    std::uint64_t bytes_;
    HostPages bits_;
    std::atomic<std::uint64_t> missing_;
};

}  // namespace warpgrade::vgpu
