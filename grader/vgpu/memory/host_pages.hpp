#pragma once

#include <cstddef>
#include <cstdint>

#include "device/descriptor.hpp"

namespace warpgrade::vgpu {

// Memory of the host, initially zero and aligned to 64 bytes. Large ones are mapped pages that the kernel fills on
// demand.
class HostPages {
  public:
    HostPages() = default;
    explicit HostPages(std::uint64_t bytes);
    HostPages(std::uint64_t bytes, const device::Descriptor& file);  // shared with any process that maps the file
    ~HostPages();
    HostPages(HostPages&& other) noexcept;
    HostPages& operator=(HostPages&& other) noexcept;
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::uint64_t size() const { return bytes_; }
    void reset();  // sets everything to zero

  private:
    void release();

    std::byte* data_ = nullptr;
    std::uint64_t bytes_ = 0;
    bool mapped_ = false;
};

}  // namespace warpgrade::vgpu
