// Serves a spawner's socket: starts the command for each request that comes in, and says how it ended.
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

struct SpawnPlan {
    const Options& options;                // limits, directory, command
    std::vector<sock_filter> filter;       // none: no filter
    std::vector<std::string> environment;  // KEY=VALUE
};

// Returns when the judge is gone. Throws std::system_error.
void serve(const SpawnPlan& plan);

}  // namespace warpgrade::sandbox
