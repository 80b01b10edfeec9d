#pragma once

#include <cstdint>
#include <string>

#include "device/diagnostic.hpp"
#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// A fault of the running program: it ends the launch with a CUDA error. The diagnostic describes it.
struct Fault {
    int code = 0;
    device::Diagnostic diagnostic;
    std::uint32_t ptx_line = 0;  // of the instruction; 0: none. For programs compiled without source lines

    // "tile.cu:12: writes 4 bytes, 8 bytes past the end of `tile` (64 bytes) [thread (1,0,0) of block (0,0,0)]"
    [[nodiscard]] std::string text() const;
};

// Raises a fault of one lane. Adds the thread, and where the diagnostic lacks them, the rule (launch/failed) and the
// instruction's place.
[[noreturn]] void raise_at(const Warp& warp, const Insn* insn, int code, unsigned lane, device::Diagnostic diagnostic);
[[noreturn]] void raise_at(const Warp& warp, const Insn* insn, int code, unsigned lane, std::string message);

}  // namespace warpgrade::vgpu
