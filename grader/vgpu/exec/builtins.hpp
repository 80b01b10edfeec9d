// Functions that CUDA's device runtime provides to kernels: printf, assert, malloc, free.
#pragma once

#include <string>
#include <string_view>

#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

// Performs the call for the lanes in the mask, in lane order. The site's arguments and results are in the caller's
// frame, which is the warp's running frame.
void call_builtin(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask);

// Bytes at a generic address as the lane sees it. A bad address ends the launch.
std::byte read_byte(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address);
std::string read_string(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address);

// device_printf.cpp: formats the text of a printf. Its arguments are at `arguments`, each aligned to its size.
struct Printed {
    std::string text;
    int arguments = 0;  // what printf returns in a kernel
};
Printed format_printf(const Warp& w, const Insn& in, unsigned lane, const std::string& format, std::uint64_t arguments);

}  // namespace warpgrade::vgpu
