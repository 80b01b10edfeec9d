// Limits of the device server's report: what the server keeps between two takes, and what a reader accepts.
#pragma once

#include <cstddef>

namespace warpgrade::device {

struct RecordLimits {
    // The server refuses further launches.
    static constexpr std::size_t max_launches = 16384;
    // Source lines over all launches; further records have no lines, and a call error says so.
    static constexpr std::size_t max_lines = 262144;
    static constexpr std::size_t max_line_bytes = 64 << 20;   // in the reply, about
    static constexpr std::size_t max_name_bytes = 512;        // of a kernel or file
    static constexpr std::size_t max_text_bytes = 4096;       // of a finding
    static constexpr std::size_t max_output_bytes = 1 << 20;  // as the buffer of CUDA's printf
    static constexpr std::size_t max_call_errors = 64, max_diagnostics = 512, max_allocations = 16384;
    // Further transfers and waits still take time on the clock, but are not listed.
    static constexpr std::size_t max_transfers = 65536, max_waits = 65536;
};

}  // namespace warpgrade::device
