#include "sandbox/identity.hpp"

#include <grp.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <system_error>

namespace warpgrade::sandbox {

UidRange largest_range(const std::string& uid_map) {
    UidRange best;
    std::istringstream lines(uid_map);
    for (uid_t inside, outside, count; lines >> inside >> outside >> count;)
        if (count > best.count) best = {inside, count};
    return best;
}

uid_t fresh_uid(const UidRange& range, pid_t supervisor) {
    // pids are below 2^22, so the usual full range has one uid for each of them, far above real users.
    constexpr uid_t base = 1u << 30, pids = 1u << 22;
    if (range.count > base && range.count - base > pids) return range.first + base + static_cast<uid_t>(supervisor);
    // In a container with few uids, use the upper half, in which images have no users.
    const uid_t half = range.count / 2;
    return half ? range.first + half + static_cast<uid_t>(supervisor) % half : 65534;
}

bool leave_root() {
    if (geteuid() != 0) return true;
    std::ifstream file("/proc/self/uid_map");
    std::stringstream map;
    map << file.rdbuf();
    const auto range = largest_range(map.str());
    if (range.count == 1) return false;
    const uid_t uid = fresh_uid(range, getpid());
    if (setgroups(0, nullptr) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot change to uid " + std::to_string(uid));
    return true;
}

}  // namespace warpgrade::sandbox
