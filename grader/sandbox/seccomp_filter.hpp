// Which system calls a sandboxed process may make.
#pragma once

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

// The filter as a BPF program in an anonymous file, positioned at its start, as bubblewrap's --seccomp wants it.
int seccomp_program(Profile profile);

// The same without namespaces around the process, where names of files and numbers of processes would be the host's.
// `empty_path`: the one address from which a path may be executed. Holds own_pid (sandbox/apply_filter.hpp).
int plain_program(Profile profile, const char* empty_path);
// For the device server once it has opened its files, besides the one before.
int last_plain_program();

}  // namespace warpgrade::sandbox
