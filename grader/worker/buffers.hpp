// The buffers of one call. Each lies in a mapping of its own that ends at an inaccessible page, so that the first byte
// beyond its end faults; a canary stands before its start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "worker/wire.hpp"

namespace warpgrade::worker {

class Buffer {
  public:
    Buffer() = default;
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    // False when the machine gives no memory. `hint` is the wished address, advanced past the mapping.
    bool map(std::size_t bytes, std::uint64_t& hint);

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    // How far before the start the nearest changed byte lies; 0: untouched.
    [[nodiscard]] std::size_t damage_before() const;
    // How far beyond the end the address lies, if it is in the guard; async-signal-safe.
    [[nodiscard]] std::optional<std::uint64_t> beyond_end(std::uint64_t address) const;

  private:
    std::byte* mapping_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t mapped_ = 0, size_ = 0;
};

inline constexpr std::size_t guard_bytes = std::size_t{1} << 20;  // also catches a write a few rows beyond

}  // namespace warpgrade::worker
