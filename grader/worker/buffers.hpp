// The buffers of one call. Each has its own mapping that ends at an inaccessible page, so that an access to the first
// byte past its end faults. A canary fills the space before its start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "worker/wire.hpp"

namespace warpgrade::worker {

class Buffer {
  public:
    Buffer() = default;
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    // Maps a copy of `source`, which lies at `offset` of a file. Returns false if memory runs out. `hint` is the wished
    // address, and is advanced past the mapping.
    bool map(std::span<const std::byte> source, int file, std::uint64_t offset, std::uint64_t& hint);

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    // The distance of the nearest changed byte before the start; 0 if there is none.
    [[nodiscard]] std::size_t damage_before() const;
    // The address's distance past the end, if it is in the guard. Async-signal-safe.
    [[nodiscard]] std::optional<std::uint64_t> distance_past_end(std::uint64_t address) const;

  private:
    std::byte* mapping_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t mapped_ = 0, size_ = 0;
};

inline constexpr std::size_t guard_bytes = std::size_t{1} << 20;  // also catches accesses a few rows past the end

}  // namespace warpgrade::worker
