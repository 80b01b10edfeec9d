// Copies and fills of rows of memory, on the host or the device.
#pragma once

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

struct Rows {
    const void* data = nullptr;
    std::size_t pitch = 0;
};

struct Shape {
    std::size_t width = 0, height = 1;  // bytes of a row, rows
};

// `kind` has CUDA's rules: a device side must be device or page-locked memory; a host side may be either, since
// addresses are unique.
cudaError_t copy(void* destination, std::size_t destination_pitch, Rows source, Shape shape, cudaMemcpyKind kind,
                 std::uint32_t stream, bool asynchronous);

cudaError_t fill(void* destination, std::size_t pitch, int value, Shape shape, std::uint32_t stream);
// A fill with elements of 1, 2 or 4 bytes. Elements whose bytes differ are written by a copy.
cudaError_t fill_elements(const cudaMemsetParams& what, std::uint32_t stream);

}  // namespace warpgrade::cudart
