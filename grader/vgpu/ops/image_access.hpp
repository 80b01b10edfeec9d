// What texture and surface instructions share: geometry, coordinates, the object behind a handle, and its memory.
#pragma once

#include <fmt/format.h>

#include "vgpu/code/decoder.hpp"
#include "vgpu/code/opcodes.hpp"
#include "vgpu/memory/images.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {

// The .1d, .2d, .3d, .a1d or .a2d of an instruction, in its form.
namespace geometry {
inline constexpr std::uint16_t dimensions = 3, layered = 4;
inline constexpr unsigned bits = 3;  // of form, in use
}  // namespace geometry

// Decodes [handle, {coordinates}]: the handle into out.a, the coordinates (the layer first, if there is one) into
// `places`, and the geometry into form. `type` is that of the coordinates; a layer is always an integer.
void decode_image_operand(InsnBuilder& b, const ptx::Operand& operand, ptx::Type type, std::vector<Ref>& places);

// The object behind lane `lane`'s handle. Raises a fault if there is none, or if its use or geometry differs.
const Image& image_of(const Warp& w, const Insn& in, device::ImageId id, device::ImageUse use, unsigned lane);

// The allocation that holds the object's texels. Raises a fault if it was freed; addresses are never reused, so no
// other allocation can be there.
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

// Calls body(handle, lanes) for each handle among the lanes. Nearly always there is only one.
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
