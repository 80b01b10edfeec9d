// The filters of system calls.
#pragma once

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

// The filter as a BPF program in an anonymous file at position 0, for bubblewrap's --seccomp.
int seccomp_program(Profile profile);

// The filter for a process without namespaces, where paths and pids are the host's. `empty_path` is the only address of
// a path that may be executed. The filter contains own_pid (sandbox/apply_filter.hpp).
int plain_program(Profile profile, const char* empty_path);
// An additional filter for the device server, after it has opened its files.
int last_plain_program();

}  // namespace warpgrade::sandbox
