// Assigns the registers of a function to places in its frame. nvcc's PTX gives every value its own register; values
// that are never needed at the same time share a place here, so that a warp's frame stays in the host's first-level
// cache.
//
// This works although lanes of a warp may be at different instructions: each lane has its own part of a place, and a
// handler writes only the parts of the lanes that execute it. So two registers may share a place if no single *thread*
// needs both at once, which liveness analysis tells. Only registers of the same width share a place: with different
// widths, the parts of different lanes would overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// An instruction's use of a register, as recorded while decoding.
struct RegisterAccess {
    enum class Kind : std::uint8_t { Read, PartialWrite, Write };  // partial: some lanes may keep the old value
    std::uint32_t insn = 0, reg = 0;
    Kind kind = Kind::Read;
};

struct RegisterPlaces {
    static constexpr std::uint32_t unused = ~0u;
    std::vector<std::uint32_t> offset;  // by register: bytes from the beginning of the register area
    std::uint32_t bytes = 0;
    std::vector<bool> read;  // by register: false if nothing needs its value
};

// `width` is, by register, the bytes of one lane, or 0 for a predicate. Returns nothing if the function is too large to
// analyse.
std::optional<RegisterPlaces> place_registers(const Code& code, const FunctionCode& function,
                                              std::span<const std::uint8_t> width,
                                              std::vector<RegisterAccess> accesses);

}  // namespace warpgrade::vgpu
