// Which user a run belongs to. The kernel's limit on processes counts by user and exempts root, and two students' runs
// must not be able to signal, trace or starve each other: as root, every run gets a uid of its own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace warpgrade::sandbox {

struct UidRange {
    uid_t first = 0, count = 0;
};

// The largest range of user ids in the text of /proc/self/uid_map: a container may have few.
UidRange largest_range(const std::string& uid_map);

// The uid of the run that this process supervises: unique while this process lives, since it comes from its pid.
uid_t fresh_uid(const UidRange& range, pid_t supervisor);

// As root: becomes the fresh uid, for good; false where there is none but root's, as in a user namespace of one user's.
// Otherwise does nothing.
bool leave_root();

}  // namespace warpgrade::sandbox
