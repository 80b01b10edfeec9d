// Reports a crash of the program to the judge, which uses it only for the message to the student.
#pragma once

#include <cstdint>

#include "worker/buffers.hpp"

namespace warpgrade::worker {

// For the signal handler; set before each call.
struct CallInProgress {
    int socket = -1;
    std::uint32_t sequence = 0;
    const Buffer* buffers = nullptr;  // one for each argument
    std::uint32_t buffer_count = 0;
};
extern CallInProgress call_in_progress;

}  // namespace warpgrade::worker
