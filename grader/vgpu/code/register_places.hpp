// Where the registers of a function lie in its frame. nvcc's PTX gives every value a register of its own; values that
// are never needed at the same time share a place here, so that a warp's frame stays in the host's first-level cache.
//
// Lanes of a warp may stand at different instructions, and that is no obstacle: each lane has its own part of a place,
// and a handler writes the parts of the lanes that execute it and no others. So two registers may share a place if no
// *thread* needs both at once, which liveness over the thread's control flow says. Parts of places of different widths
// overlap across lanes: only registers of the same width share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// An instruction's use of a register, as recorded while decoding.
struct RegisterAccess {
    enum class Kind : std::uint8_t { Read, PartialWrite, Write };  // partial: some lanes may keep the value before
    std::uint32_t insn = 0, reg = 0;
    Kind kind = Kind::Read;
};

struct RegisterPlaces {
    static constexpr std::uint32_t unused = ~0u;
    std::vector<std::uint32_t> offset;  // by register: bytes from the beginning of the registers
    std::uint32_t bytes = 0;
};

// `width` by register: bytes of one lane, 0 for a predicate. Nothing when the function is too large to analyse.
std::optional<RegisterPlaces> place_registers(const Code& code, const FunctionCode& function,
                                              std::span<const std::uint8_t> width,
                                              std::vector<RegisterAccess> accesses);

}  // namespace warpgrade::vgpu
