// Runs a CUDA program and its own device server as processes and times them from outside.
#pragma once

#include <string>
#include <vector>

namespace warpgrade::vgpu::bench {

struct WholePath {
    double first_kernel_seconds = 0;  // from starting the server to the end of the first kernel
    double server_peak_bytes = 0;     // resident
};

// Throws std::runtime_error when either process fails.
WholePath run_program(const std::string& server, const std::string& program, const std::vector<std::string>& arguments,
                      unsigned threads);

}  // namespace warpgrade::vgpu::bench
