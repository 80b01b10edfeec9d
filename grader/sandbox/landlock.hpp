// Landlock: a process gives up all files but those that it names, without any privilege (Linux 5.13).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpgrade::sandbox {

struct FileRule {
    enum class Access { read, read_and_execute, write, all };
    std::string path;  // a file, or a folder with all that is in it; nothing happens where there is none
    Access access;
};

// What a process can give up, as the kernel's struct landlock_ruleset_attr has it: of files, of TCP, of what is reached
// without either.
struct LandlockRights {
    std::uint64_t files = 0, net = 0, scoped = 0;
};
// All that a version of the kernel's interface knows: more is an error there, and less is less of a sandbox.
LandlockRights landlock_rights(int version);

// The version of the kernel's interface; 0: there is none.
int landlock_version();

// From here on the calling process and those that it starts can open what the rules name, and no other file; nor, where
// the kernel's version has it, make TCP connections or send signals to others. Needs no_new_privs. Throws
// std::system_error.
void give_up_files(const std::vector<FileRule>& rules);

}  // namespace warpgrade::sandbox
