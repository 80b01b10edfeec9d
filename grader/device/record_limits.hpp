// How much of what happens is told: what the device server keeps between two takes, and what whoever reads its answer
// accepts.
#pragma once

#include <cstddef>

namespace warpgrade::device {

struct RecordLimits {
    // Launches that fit between two takes; beyond it the server refuses to launch.
    static constexpr std::size_t max_launches = 16384;
    // Source lines over all launches; beyond it records come without lines, and a diagnostic says so.
    static constexpr std::size_t max_lines = 262144;
    static constexpr std::size_t max_line_bytes = 64 << 20;                    // of them in the reply, about
    static constexpr std::size_t max_name_bytes = 512, max_text_bytes = 4096;  // of a kernel or file; of a finding
    static constexpr std::size_t max_output_bytes = 1 << 20;                   // as the buffer of CUDA's printf
    static constexpr std::size_t max_call_errors = 64, max_diagnostics = 512;
    static constexpr std::size_t max_allocations = 16384;  // listed between two takes
    // Transfers and waits kept between two takes; further ones count in the clock, but are not listed.
    static constexpr std::size_t max_transfers = 65536, max_waits = 65536;
};

}  // namespace warpgrade::device
