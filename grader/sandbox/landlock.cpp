#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace warpgrade::sandbox {
namespace {

// From <linux/landlock.h>, which is older than the kernel on many machines.
constexpr int create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr unsigned long version_flag = 1, path_beneath = 1;

enum : std::uint64_t {
    fs_execute = 1 << 0,
    fs_write_file = 1 << 1,
    fs_read_file = 1 << 2,
    fs_read_dir = 1 << 3,
    fs_of_version_1 = (1 << 13) - 1,
    fs_refer = 1 << 13,      // version 2
    fs_truncate = 1 << 14,   // version 3
    fs_ioctl_dev = 1 << 15,  // version 5
};
constexpr std::uint64_t net_all = 3;    // TCP: bind, connect; version 4
constexpr std::uint64_t scope_all = 3;  // abstract Unix sockets, signals; version 6

struct [[gnu::packed]] PathRule {
    std::uint64_t allowed;
    std::int32_t parent;
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::uint64_t access_rights(FileRule::Access access) {
    constexpr std::uint64_t reading = fs_read_file | fs_read_dir;
    switch (access) {
        case FileRule::Access::read:
            return reading;
        case FileRule::Access::read_and_execute:
            return reading | fs_execute;
        case FileRule::Access::write:
            return reading | fs_write_file | fs_truncate;
        case FileRule::Access::all:
            break;
    }
    return ~std::uint64_t{0};
}

}  // namespace

LandlockRights landlock_rights(int version) {
    LandlockRights all{fs_of_version_1, 0, 0};
    if (version >= 2) all.files |= fs_refer;
    if (version >= 3) all.files |= fs_truncate;
    if (version >= 4) all.net = net_all;
    if (version >= 5) all.files |= fs_ioctl_dev;
    if (version >= 6) all.scoped = scope_all;
    return all;
}

int landlock_version() {
    const long version = syscall(create_ruleset, nullptr, 0, version_flag);
    return version > 0 ? static_cast<int>(version) : 0;
}

void give_up_files(const std::vector<FileRule>& rules) {
    const int version = landlock_version();
    // An older kernel accepts the longer structure, since the fields that it does not know are 0.
    const auto all = landlock_rights(version);
    const int ruleset = static_cast<int>(syscall(create_ruleset, &all, sizeof all, 0));
    for (const auto& rule : rules) {
        const int parent = open(rule.path.c_str(), O_PATH | O_CLOEXEC);
        if (parent < 0) continue;
        struct stat status {};
        if (fstat(parent, &status) != 0) fail("Landlock");
        PathRule row{access_rights(rule.access) & all.files, parent};
        if (!S_ISDIR(status.st_mode))
            row.allowed &= fs_execute | fs_write_file | fs_read_file | fs_truncate | fs_ioctl_dev;
        if (syscall(add_rule, ruleset, path_beneath, &row, 0) != 0) fail("Landlock");
        close(parent);
    }
    if (syscall(restrict_self, ruleset, 0) != 0) fail("Landlock");
    close(ruleset);
}

}  // namespace warpgrade::sandbox
