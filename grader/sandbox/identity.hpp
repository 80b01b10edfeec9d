// The user of a run. As root, every run gets its own uid, so that students' runs cannot signal, trace or starve each
// other, and because the kernel's limit of processes counts by user and exempts root.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace warpgrade::sandbox {

struct UidRange {
    uid_t first = 0, count = 0;
};

// The largest range of user ids in the text of /proc/self/uid_map, which may be small in a container.
UidRange largest_range(const std::string& uid_map);

// A uid from the supervisor's pid, so that it is unique while that process lives.
uid_t fresh_uid(const UidRange& range, pid_t supervisor);

// As root, changes to the fresh uid irrevocably; returns false if there is none, as in a user namespace with one user.
// Does nothing if the process is not root.
bool leave_root();

}  // namespace warpgrade::sandbox
