// CUDA arrays: pitched device memory. Only copies and texture objects know its layout.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cudart/client/connection.hpp"

struct cudaArray {
    cudaChannelFormatDesc channels{};
    cudaExtent extent{};  // in elements, as the program gave it; 0: the array lacks the dimension
    unsigned flags = 0;
    std::uint64_t address = 0;
    std::size_t pitch = 0;

    [[nodiscard]] std::size_t element_bytes() const {
        return static_cast<std::size_t>(channels.x + channels.y + channels.z + channels.w) / 8;
    }
    [[nodiscard]] std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
    [[nodiscard]] std::size_t slices() const { return std::max<std::size_t>(extent.depth, 1); }
    [[nodiscard]] std::size_t slice_bytes() const { return rows() * pitch; }
    [[nodiscard]] std::byte* data() const { return reinterpret_cast<std::byte*>(address); }
};

namespace warpgrade::cudart {

// The alignment in bytes of rows of cudaMallocPitch and arrays, as on an H100.
inline constexpr std::size_t pitch_alignment = 512;

// True for 1, 2 or 4 channels of the same width, of a kind that arrays and textures support.
bool is_valid(const cudaChannelFormatDesc& channels);
bool is_array(cudaArray_const_t array);
void forget_arrays();
void forget_images();  // texture and surface objects: image.cpp

// True if [first, first + count) is in [0, room).
inline bool fits(std::size_t first, std::size_t count, std::size_t room) {
    return first <= room && count <= room - first;
}

}  // namespace warpgrade::cudart
