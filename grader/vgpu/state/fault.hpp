// What ends a launch: a fault of the program that runs.
#pragma once

#include <cstdint>
#include <string>

#include "device/diagnostic.hpp"
#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// A fault of the program that runs: ends the launch with a CUDA error. All that is said of it is in the diagnostic.
struct Fault {
    int code = 0;
    device::Diagnostic diagnostic;
    std::uint32_t ptx_line = 0;  // of the instruction; 0: none. For programs that were compiled without source lines

    // "tile.cu:12: writes 4 bytes, 8 bytes past the end of `tile` (64 bytes) [thread (1,0,0) of block (0,0,0)]"
    [[nodiscard]] std::string text() const;
};

// Raises a fault of one lane: of what the diagnostic leaves out, rule (launch/failed) and place (the instruction's) are
// added, and the thread.
[[noreturn]] void raise_at(const Warp& warp, const Insn* insn, int code, unsigned lane, device::Diagnostic diagnostic);
[[noreturn]] void raise_at(const Warp& warp, const Insn* insn, int code, unsigned lane, std::string message);

}  // namespace warpgrade::vgpu
