// Runs one command in the sandbox and waits for it.
#pragma once

#include <sys/types.h>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

inline constexpr int exit_timed_out = 124, exit_not_started = 125;

// Returns the exit status that usage_text describes. Throws std::system_error.
int run(const Options& options);

// Returns what a shell would show as the exit status of this child.
int wait_for_exit(pid_t child);

}  // namespace warpgrade::sandbox
