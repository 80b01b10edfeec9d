// The device's own copy of memory that the program under test maps too. It is brought up to date before each operation.
// So a kernel reads what was there when it began, whatever host code does meanwhile, and the bytes that host code wrote
// are known.
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
    // `shared` holds the pages that the program maps; `own` is the device's memory, of the same size. All of it is for
    // the device, unless it is `registered`: whole pages of the program's own memory, with whatever else lies there.
    HostCopy(HostPages shared, std::byte* own, std::uint64_t bytes, bool registered);

    // Takes over what host code has written since the last call.
    void fetch(LastWriter& writers);
    // Gives the program what the launch `who` has written.
    void publish(LastWriter& writers, device::WriterTag who);
    // Gives the program bytes that a copy or a fill has written.
    void publish(std::uint64_t offset, std::uint64_t bytes);
    // Notes that a kernel or a copy on the device has read bytes.
    void note_load(std::uint64_t offset, std::uint64_t bytes) { loaded_.define(offset, bytes); }
    // The runs of bytes, with their offsets, that host code wrote and the device has read since, with what lies in
    // between, and around them what the device has read and no launch wrote, or around a short run whatever no launch
    // wrote. What host code changed is returned once.
    [[nodiscard]] std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> take_used(LastWriter& writers);
    // Changes whenever bytes do.
    [[nodiscard]] std::uint64_t version() const { return version_; }

  private:
    HostPages shared_;
    std::byte* own_;
    std::uint64_t bytes_, version_ = 1;
    bool registered_;
    DefinedBytes changed_, loaded_;  // written by the host and not yet used; read by the device in the current
                                     // operation
    bool pending_ = false;           // true if changed_ has any byte
};

}  // namespace warpgrade::vgpu
