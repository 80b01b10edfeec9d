// Texture and surface objects of the virtual GPU. A descriptor is checked once, when its object is created, so its
// sizes can be trusted later. Every fetch checks that its memory still exists.
#pragma once

#include <unordered_map>

#include "device/device.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

using Image = device::ImageDescriptor;

class ImageTable {
  public:
    // Throws DeviceError(invalid_value, invalid_channel_descriptor).
    device::ImageId create(const Image& image, const GlobalMemory& memory);
    void destroy(device::ImageId id) { images_.erase(id); }
    [[nodiscard]] const Image* find(device::ImageId id) const {
        const auto it = images_.find(id);
        return it == images_.end() ? nullptr : &it->second;
    }
    // "no texture object", or what happened to it; for messages.
    [[nodiscard]] std::string describe(device::ImageId id) const;

  private:
    // Handles do not look like addresses or small numbers, so that a wrong one is recognised. They are never reused.
    static constexpr device::ImageId first_id = 0x7E00'0000'0000'0001;

    std::unordered_map<device::ImageId, Image> images_;
    device::ImageId next_ = first_id;
};

}  // namespace warpgrade::vgpu
