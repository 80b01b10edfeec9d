// What kernels print. The driver writes it to this process's standard output when the host waits for the device; here
// that is a file in memory instead, as long as this object lives.
#pragma once

#include <cstdint>

#include "device/descriptor.hpp"
#include "device/print_buffer.hpp"

namespace warpgrade::gpu {

class PrintedOutput {
  public:
    PrintedOutput();
    ~PrintedOutput();
    PrintedOutput(const PrintedOutput&) = delete;
    PrintedOutput& operator=(const PrintedOutput&) = delete;

    // The text since the last call.
    device::PrintedText take();

  private:
    device::Descriptor file_, before_;
};

}  // namespace warpgrade::gpu
