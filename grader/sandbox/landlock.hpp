// Landlock: an unprivileged process gives up access to all files except those that it names (Linux 5.13).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpgrade::sandbox {

struct FileRule {
    enum class Access { read, read_and_execute, write, all };
    std::string path;  // a file, or a folder with its contents; ignored if it does not exist
    Access access;
};

// The kernel's struct landlock_ruleset_attr: rights to files, to TCP, and to signals and abstract sockets.
struct LandlockRights {
    std::uint64_t files = 0, net = 0, scoped = 0;
};
// All rights of a version of the kernel's interface, which rejects unknown ones.
LandlockRights landlock_rights(int version);

// The version of the kernel's interface; 0 if there is none.
int landlock_version();

// Restricts the calling process and its children to the files in the rules. If the kernel's version supports it, they
// also cannot make TCP connections or send signals to other processes. Needs no_new_privs. Throws std::system_error.
void give_up_files(const std::vector<FileRule>& rules);

}  // namespace warpgrade::sandbox
