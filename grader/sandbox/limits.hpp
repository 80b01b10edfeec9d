// The kernel's limits for a command.
#pragma once

#include <sys/types.h>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

// pid 0 is the calling process. Lower limits that it already has stay. `others` is the number of other processes of the
// same user and user namespace, which count too.
void set_limits(const Options& options, pid_t pid, unsigned others = 0);

}  // namespace warpgrade::sandbox
