// The limits of the kernel's that a command runs under.
#pragma once

#include <sys/types.h>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

// pid 0 is the calling process. Limits that it already has stay where they are lower. `others`: processes of the same
// user and user namespace that are not the command's, and may be there besides.
void set_limits(const Options& options, pid_t pid, unsigned others = 0);

}  // namespace warpgrade::sandbox
