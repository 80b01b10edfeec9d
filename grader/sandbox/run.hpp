// Runs one command in the sandbox and waits for it.
#pragma once

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

inline constexpr int exit_timed_out = 124, exit_not_started = 125;

// Returns the exit status to end with, as usage_text describes. Throws std::system_error when the machine refuses.
int run(const Options& options);

}  // namespace warpgrade::sandbox
