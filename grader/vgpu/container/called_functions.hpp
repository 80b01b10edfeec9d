// The functions of a cubin that ptxas calls instead of making them part of their callers, and how many registers each
// keeps on the stack while it runs. That is said for debuggers only: in .debug_frame (DWARF 5, section 6.4), as where
// the caller's registers are. A reader of our own, since libdw knows no CUDA registers and unwinds, where this counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpgrade::vgpu {

struct CalledFunction {
    std::string kernel;  // for which ptxas has compiled it; empty: any
    std::string name;    // mangled
    std::uint32_t saved_registers = 0;
};

// Also functions of which only the address is taken. Throws FatbinError if it is not a cubin or malformed.
std::vector<CalledFunction> read_called_functions(std::span<const std::uint8_t> cubin);

}  // namespace warpgrade::vgpu
