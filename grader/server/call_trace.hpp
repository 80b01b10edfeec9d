// What host code did in one call: its decisions, and what went up and came down. It is taken from the log of a session,
// or from a file into which the server of another run of the same call has written it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/decisions.hpp"
#include "server/origin_log.hpp"

namespace warpgrade::device {

struct CallTrace {
    struct Up {
        wire::Region region;
        std::span<const std::byte> bytes;
        bool mapped = false;
        std::uint64_t number = 0;
        std::size_t launch = 0;
    };
    struct Down {
        std::span<const std::byte> bytes;
        std::uint64_t number = 0;
    };
    std::vector<Decision> decisions;
    std::vector<Up> up;
    std::vector<Down> down;  // by copies
    bool overflown = false;
};

// Refers to the log's bytes.
CallTrace trace_of(const OriginLog& log);

// Replaces what the file holds. Throws std::system_error.
void write_trace(const CallTrace& trace, int file);
// Refers to these bytes. Throws std::exception for what write_trace() has not written.
CallTrace read_trace(std::span<const std::byte> file);

}  // namespace warpgrade::device
