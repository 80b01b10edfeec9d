// Memory that the program under test maps as well, as the device sees it: in a copy of its own, brought up to date
// before each operation. A kernel so reads what stood there when it began, whatever host code does meanwhile, and what
// host code wrote there is known.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/memory/defined.hpp"
#include "vgpu/memory/host_pages.hpp"
#include "vgpu/memory/last_writer.hpp"

namespace warpgrade::vgpu {

class HostCopy {
  public:
    // `shared`: the pages that the program maps; `own`: the device's, as large.
    HostCopy(HostPages shared, std::byte* own, std::uint64_t bytes);

    // Takes over what host code has written since the last time.
    void take(LastWriter& writers);
    // Hands on what the launch `who` has written.
    void give(LastWriter& writers, device::WriterTag who);
    // The same of bytes that a copy or a fill has written.
    void give(std::uint64_t offset, std::uint64_t bytes);
    // Notes that a kernel, or a copy on the device, has read bytes.
    void note_load(std::uint64_t offset, std::uint64_t bytes) { loaded_.define(offset, bytes); }
    // The runs of bytes that host code wrote and the device has read since, by their offset; each once.
    [[nodiscard]] std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> take_used();
    // Changes whenever bytes do.
    [[nodiscard]] std::uint64_t version() const { return version_; }

  private:
    HostPages shared_;
    std::byte* own_;
    std::uint64_t bytes_, version_ = 1;
    DefinedBytes changed_, loaded_;  // by the host and not used yet; by the device, in the operation at hand
    bool pending_ = false;           // anything in changed_
};

}  // namespace warpgrade::vgpu
