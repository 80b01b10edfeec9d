// Pages of memory of the host that runs the virtual GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/descriptor.hpp"

namespace warpgrade::vgpu {

// Host memory, all zero at first and aligned to 64 bytes; large ones are pages that are filled on demand. Released on
// destruction.
class HostPages {
  public:
    HostPages() = default;
    explicit HostPages(std::uint64_t bytes);
    HostPages(std::uint64_t bytes, const device::Descriptor& file);  // shared with whoever maps the file
    ~HostPages();
    HostPages(HostPages&& other) noexcept;
    HostPages& operator=(HostPages&& other) noexcept;
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::uint64_t size() const { return bytes_; }
    void reset();  // all zero again

  private:
    void release();

    std::byte* data_ = nullptr;
    std::uint64_t bytes_ = 0;
    bool mapped_ = false;
};

}  // namespace warpgrade::vgpu
