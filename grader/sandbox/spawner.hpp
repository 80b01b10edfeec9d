// Serves a spawner's socket: starts the command for each request that comes in, and says how it ended.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

struct SpawnPlan {
    const Options& options;  // limits, directory, command
    // Becomes the command, in the new process: gives up what the command may not do, and runs it. Throws
    // std::system_error.
    std::function<void()> run;
};

// Returns when the judge is gone. Throws std::system_error.
void serve(const SpawnPlan& plan);

// Runs a command, with its variables as KEY=VALUE. Throws std::system_error.
[[noreturn]] void execute(const std::vector<std::string>& command, const std::vector<std::string>& environment);

}  // namespace warpgrade::sandbox
