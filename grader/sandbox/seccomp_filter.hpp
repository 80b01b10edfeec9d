// Which system calls a sandboxed process may make.
#pragma once

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

// The filter as a BPF program in an anonymous file, positioned at its start, as bubblewrap's --seccomp wants it.
int seccomp_program(Profile profile);

}  // namespace warpgrade::sandbox
