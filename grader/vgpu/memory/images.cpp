#include "vgpu/memory/images.hpp"

#include <fmt/format.h>

namespace warpgrade::vgpu {
namespace {

using device::AddressMode;
using device::ChannelKind;
using device::DeviceError;
using device::ImageShape;
using device::ImageUse;
namespace error = device::error;

// Larger than on any device, and small enough that no product of sizes overflows.
constexpr std::uint32_t max_width = 1u << 28, max_rows = 1u << 17, max_slices = 1u << 15;
constexpr std::uint64_t max_pitch = std::uint64_t{1} << 32, max_slice_bytes = std::uint64_t{1} << 44;

void require(bool condition, const char* what) {
    if (!condition) throw DeviceError(error::invalid_value, fmt::format("texture or surface object: {}", what));
}

void check_channels(const Image& image) {
    const bool count = image.channels == 1 || image.channels == 2 || image.channels == 4;
    const bool bits = image.channel_bits == 16 || image.channel_bits == 32 ||
                      (image.channel_bits == 8 && image.kind != ChannelKind::floating);
    if (!count || !bits)
        throw DeviceError(error::invalid_channel_descriptor,
                          fmt::format("texture or surface object: texels cannot have {} channels of {} bits",
                                      image.channels, image.channel_bits));
}

void check_sizes(const Image& image) {
    const std::uint32_t texel = image.texel_bytes();
    require(image.width != 0 && image.width <= max_width, "the width is zero or too large");
    require(image.height <= max_rows && image.depth <= max_slices, "too many rows or slices");
    require(image.pitch <= max_pitch && image.slice_bytes <= max_slice_bytes, "the pitch is too large");
    require(image.address % texel == 0 && image.pitch % texel == 0 && image.slice_bytes % texel == 0,
            "the address or the pitch is not a multiple of the texel size");
    require(image.rows() == 1 || image.pitch >= std::uint64_t{image.width} * texel, "the rows overlap");
    require(image.slices() == 1 || image.slice_bytes >= image.rows() * image.pitch, "the slices overlap");
    require(!image.layered || image.depth != 0, "a layered array needs at least one layer");
    if (image.shape != ImageShape::array)
        require(image.depth == 0 && !image.layered, "memory other than an array cannot have slices or layers");
    if (image.shape == ImageShape::linear) require(image.height == 0, "linear memory cannot have rows");
}

void check_reading(const Image& image) {
    const bool integers = image.kind != ChannelKind::floating;
    require(!image.normalized_values || (integers && image.channel_bits <= 16),
            "only 8-bit and 16-bit integers can be read as normalized floats");
    require(!image.linear_filter || !integers || image.normalized_values,
            "linear filtering needs a texture that is read as floating point");
}

// Replaces settings that CUDA ignores or replaces, so that fetches need not check them.
void replace_unused_settings(Image& image) {
    if (image.shape == ImageShape::linear) {
        // Linear memory is read by index, without a filter; it is zero outside.
        image.linear_filter = image.normalized_coordinates = false;
        image.address_mode.fill(AddressMode::border);
        image.border.fill(0);
    }
    // CUDA leaves the border colour of integers undefined.
    if (image.kind != ChannelKind::floating && !image.normalized_values) image.border.fill(0);
    // Wrapping and mirroring are defined only for normalized coordinates.
    for (AddressMode& mode : image.address_mode)
        if (!image.normalized_coordinates && mode != AddressMode::border) mode = AddressMode::clamp;
}

}  // namespace

device::ImageId ImageTable::create(const Image& wanted, const GlobalMemory& memory) {
    check_channels(wanted);
    check_sizes(wanted);
    check_reading(wanted);
    require(wanted.use == ImageUse::texture || wanted.shape == ImageShape::array, "a surface needs an array");
    static_cast<void>(memory.checked(wanted.address, wanted.extent_bytes(), "texture or surface object"));
    Image image = wanted;
    replace_unused_settings(image);
    images_.emplace(next_, image);
    return next_++;
}

std::string ImageTable::describe(device::ImageId id) const {
    if (id >= first_id && id < next_ && !find(id)) return fmt::format("{:#x}, which was destroyed", id);
    return fmt::format("{:#x}, which was never created", id);
}

}  // namespace warpgrade::vgpu
