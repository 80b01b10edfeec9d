// What texture and surface instructions share: their geometry and coordinates, the object behind a handle, its memory.
#pragma once

#include <fmt/format.h>

#include "vgpu/code/decoder.hpp"
#include "vgpu/code/opcodes.hpp"
#include "vgpu/memory/images.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {

// The .1d, .2d, .3d, .a1d and .a2d of an instruction, in its form.
namespace geometry {
inline constexpr std::uint16_t dimensions = 3, layered = 4;
inline constexpr unsigned bits = 3;  // of form that are taken
}  // namespace geometry

// Decodes [handle, {coordinates}]: the handle into out.a, the coordinates (the layer first, where there are layers)
// into `places`, and the geometry into form. `type`: of the coordinates; a layer is always an integer.
void decode_image_operand(InsnBuilder& b, const ptx::Operand& operand, ptx::Type type, std::vector<Ref>& places);

// The object behind a handle that lane `lane` uses. Raises a fault if it is none, or none of this use and geometry.
const Image& image_of(const Warp& w, const Insn& in, device::ImageId id, device::ImageUse use, unsigned lane);

// The allocation that the object's texels lie in. Raises a fault if it is freed: addresses are never used again, so
// another one cannot have taken its place.
template <Op O>
inline Allocation& image_memory(Warp& w, const Insn& in, const Image& image, unsigned lane) {
    const unsigned bytes = image.texel_bytes();
    const std::uint64_t last = image.address + image.extent_bytes() - bytes;
    if (Allocation* a = global_allocation<O>(w, w.executor->memory[in.memory_slot], image.address, last, bytes))
        return *a;
    device::Diagnostic gone;
    gone.message = "uses a texture or surface object of {memory}, which was freed";
    if (const auto known = w.executor->global->known(image.address)) gone.memory = known->place;
    raise_at(w, &in, device::error::illegal_address, lane, std::move(gone));
}

// Calls body(handle, lanes) for each handle among the lanes: as good as always, there is one.
template <class F>
inline void for_each_handle(const std::uint64_t* handles, std::uint32_t mask, F&& body) {
    while (mask) {
        const std::uint64_t handle = handles[std::countr_zero(mask)];
        std::uint32_t same = 0;
        for_active(mask, [&](unsigned l) { same |= std::uint32_t{handles[l] == handle} << l; });
        body(handle, same);
        mask &= ~same;
    }
}

}  // namespace warpgrade::vgpu
