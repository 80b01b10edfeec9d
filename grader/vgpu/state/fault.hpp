// What ends a launch: a fault of the program that runs.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "device/diagnostic.hpp"
#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// A fault of the program that runs: ends the launch with a CUDA error. `lane` is the first lane at fault.
class Fault : public std::runtime_error {
  public:
    Fault(int error_code, const std::string& message, unsigned at_lane)
        : std::runtime_error(message), code(error_code), lane(at_lane) {}
    int code;
    unsigned lane;
    const Insn* insn = nullptr;  // where, if known
    std::uint32_t warp = 0;      // index in its block
    bool out_of_budget = false;  // stopped because it ran for too long
    // For the student; Grid adds what is left out: rule (launch/failed), message (what()), place and thread.
    device::Diagnostic diagnostic;
};

[[noreturn]] void raise_at(const Warp& warp, const Insn* insn, int code, const std::string& message, unsigned lane,
                           device::Diagnostic diagnostic = {});

}  // namespace warpgrade::vgpu
