// Reads a filter of system calls from a descriptor, and applies it to the calling process.
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

// A placeholder in filters for the pid of the filtered process, so that it may signal its own threads.
inline constexpr std::uint32_t own_pid = 0x57470001;

// The variable with the descriptor of the device server's last filter, which it applies after opening its files.
inline constexpr const char* last_filter_variable = "WARPGRADE_LAST_FILTER_FD";

// Reads from the start of the file, since other processes may share the descriptor, and closes it.
inline std::vector<sock_filter> read_filter(int fd) {
    std::vector<sock_filter> filter(BPF_MAXINSNS);
    const ssize_t got = pread(fd, filter.data(), filter.size() * sizeof filter[0], 0);
    if (got <= 0 || got % static_cast<ssize_t>(sizeof filter[0]) != 0)
        throw std::system_error(EINVAL, std::generic_category(), "the filter");
    filter.resize(static_cast<std::size_t>(got) / sizeof filter[0]);
    close(fd);
    return filter;
}

// Applies to all threads of the calling process, irrevocably.
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
