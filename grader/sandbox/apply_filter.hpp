// Filters of system calls as they travel between processes, and how a process puts itself under one.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <vector>

namespace warpgrade::sandbox {

// Stands in a filter for the pid of the process that will be under it: it may signal its own threads.
inline constexpr std::uint32_t own_pid = 0x57470001;

// What the device server reads its last filter from, once it has opened all files that it needs.
inline constexpr const char* last_filter_variable = "WARPGRADE_LAST_FILTER_FD";

// Reads it from its begin, whoever else reads it too, and closes the descriptor.
inline std::vector<sock_filter> read_filter(int fd) {
    std::vector<sock_filter> filter(BPF_MAXINSNS);
    const ssize_t got = pread(fd, filter.data(), filter.size() * sizeof filter[0], 0);
    if (got <= 0 || got % static_cast<ssize_t>(sizeof filter[0]) != 0)
        throw std::system_error(EINVAL, std::generic_category(), "the filter");
    filter.resize(static_cast<std::size_t>(got) / sizeof filter[0]);
    close(fd);
    return filter;
}

// Holds for all threads of the calling process, and for good.
inline void apply_filter(std::vector<sock_filter> filter) {
    for (auto& instruction : filter)
        if (BPF_CLASS(instruction.code) == BPF_JMP && instruction.k == own_pid)
            instruction.k = static_cast<std::uint32_t>(getpid());
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        throw std::system_error(errno, std::generic_category(), "seccomp");
}

}  // namespace warpgrade::sandbox
