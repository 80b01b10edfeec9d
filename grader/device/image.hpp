// Texture and surface objects as the device sees them: memory, the layout of texels in it, addressing and filtering.
// The worker's runtime makes them from CUDA's descriptors.
#pragma once

#include <array>
#include <cstdint>

namespace warpgrade::device {

using ImageId = std::uint64_t;  // what kernels get as cudaTextureObject_t or cudaSurfaceObject_t

enum class ImageUse : std::uint8_t { texture, surface, count };
// `linear` is a plain range for tex1Dfetch. The others may have several dimensions, and arrays may have layers.
enum class ImageShape : std::uint8_t { linear, pitched, array, count };
enum class ChannelKind : std::uint8_t { signed_integer, unsigned_integer, floating, count };
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border, count };

struct ImageDescriptor {
    ImageUse use = ImageUse::texture;
    ImageShape shape = ImageShape::linear;
    // The address of texel (x, y, z) is address + z * slice_bytes + y * pitch + x * texel_bytes().
    std::uint64_t address = 0, pitch = 0, slice_bytes = 0;
    std::uint32_t width = 0, height = 0, depth = 0;  // in texels; 0: the image lacks the dimension
    bool layered = false;                            // `depth` counts layers, which fetches do not filter
    std::uint8_t channels = 0, channel_bits = 0;
    ChannelKind kind = ChannelKind::unsigned_integer;
    // For textures only.
    std::array<AddressMode, 3> address_mode = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
    bool linear_filter = false, normalized_coordinates = false;
    bool normalized_values = false;  // integers are read as [0, 1] or [-1, 1]
    std::array<float, 4> border{};

    [[nodiscard]] std::uint32_t texel_bytes() const { return std::uint32_t{channels} * channel_bits / 8; }
    [[nodiscard]] std::uint32_t rows() const { return height ? height : 1; }
    [[nodiscard]] std::uint32_t slices() const { return depth ? depth : 1; }
    // From the first texel to the end of the last one. The sizes must have been checked.
    [[nodiscard]] std::uint64_t extent_bytes() const {
        return (slices() - 1) * slice_bytes + (rows() - 1) * pitch + std::uint64_t{width} * texel_bytes();
    }
};

}  // namespace warpgrade::device
