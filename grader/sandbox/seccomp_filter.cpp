#include "sandbox/seccomp_filter.hpp"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <type_traits>

namespace warpgrade::sandbox {
namespace {

// What a C++ program with threads, files in /tmp and inherited descriptors needs, and no more. Names that this
// libseccomp does not know are skipped: they stay refused.
constexpr const char* worker_calls[] = {
    // descriptors that exist, and files
    "read", "write", "readv", "writev", "pread64", "pwrite64", "close", "close_range", "fstat", "newfstatat", "stat",
    "lstat", "statx", "lseek", "open", "openat", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
    "getdents64", "getcwd", "chdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat",
    "rmdir", "ftruncate", "fallocate", "fsync", "fdatasync", "dup", "dup2", "dup3", "pipe", "pipe2", "fcntl", "poll",
    "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd",
    "eventfd2", "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown", "getsockopt", "getsockname", "getpeername",
    // memory
    "mmap", "munmap", "mremap", "mprotect", "brk", "madvise", "mincore", "msync", "mlock", "munlock", "membarrier",
    // threads, signals, time
    "futex", "set_robust_list", "get_robust_list", "rseq", "set_tid_address", "gettid", "getpid", "getppid", "getpgrp",
    "getuid", "geteuid", "getgid", "getegid", "getgroups", "sched_yield", "sched_getaffinity", "sched_setaffinity",
    "sched_getparam", "sched_getscheduler", "getcpu", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
    "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "kill", "tgkill", "tkill", "pause", "alarm", "getitimer",
    "setitimer", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time", "times",
    "getrusage", "getrlimit", "setrlimit", "prlimit64", "sysinfo", "uname", "getrandom", "restart_syscall",
    "arch_prctl", "wait4", "waitid",
    // bubblewrap starts the program after the filter is in place
    "execve", "exit", "exit_group"};

// What no compiler needs. Compilers use too many calls, which differ too much between distributions, to list.
constexpr const char* compile_refused[] = {"ptrace",
                                           "process_vm_readv",
                                           "process_vm_writev",
                                           "process_madvise",
                                           "pidfd_getfd",
                                           "kcmp",
                                           "bpf",
                                           "perf_event_open",
                                           "userfaultfd",
                                           "io_uring_setup",
                                           "io_uring_enter",
                                           "io_uring_register",
                                           "add_key",
                                           "request_key",
                                           "keyctl",
                                           "mount",
                                           "umount2",
                                           "pivot_root",
                                           "chroot",
                                           "fsopen",
                                           "fsmount",
                                           "fspick",
                                           "fsconfig",
                                           "move_mount",
                                           "open_tree",
                                           "mount_setattr",
                                           "unshare",
                                           "setns",
                                           "kexec_load",
                                           "kexec_file_load",
                                           "init_module",
                                           "finit_module",
                                           "delete_module",
                                           "reboot",
                                           "swapon",
                                           "swapoff",
                                           "acct",
                                           "quotactl",
                                           "nfsservctl",
                                           "syslog",
                                           "open_by_handle_at",
                                           "name_to_handle_at",
                                           "fanotify_init",
                                           "lookup_dcookie",
                                           "mbind",
                                           "set_mempolicy",
                                           "migrate_pages",
                                           "move_pages",
                                           "vmsplice",
                                           "personality",
                                           "iopl",
                                           "ioperm",
                                           "modify_ldt",
                                           "settimeofday",
                                           "adjtimex",
                                           "clock_settime",
                                           "clock_adjtime",
                                           "sethostname",
                                           "setdomainname",
                                           "vhangup",
                                           "semget",
                                           "shmget",
                                           "msgget",
                                           "mq_open"};

constexpr std::uint64_t new_namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

struct FilterDeleter {
    void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, FilterDeleter>;

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(-result, std::generic_category(), what);
}

template <class... Comparisons>
void add(const Filter& filter, std::uint32_t action, const char* name, Comparisons... comparisons) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR || number < 0) return;  // not a call of this architecture
    check(seccomp_rule_add(filter.get(), action, number, sizeof...(comparisons), comparisons...), name);
}

// An allow-list. What is not on it does not exist (ENOSYS), so that the C library falls back where it can.
Filter worker_filter(Profile profile) {
    Filter filter(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
    if (!filter) throw std::runtime_error("seccomp_init failed");
    for (const char* name : worker_calls) add(filter, SCMP_ACT_ALLOW, name);
    // Threads yes, processes no: nothing outlives the program, and its processor time is all its own.
    add(filter, SCMP_ACT_ALLOW, "clone",
        SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | new_namespaces, static_cast<std::uint64_t>(CLONE_THREAD)));
    const std::uint32_t refused = SCMP_ACT_ERRNO(EPERM);
    add(filter, refused, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    for (const char* name : {"fork", "vfork", "socket", "ptrace", "unshare", "setns", "mount"})
        add(filter, refused, name);
    for (const auto request : {FIONREAD, FIONBIO, TCGETS, TIOCGWINSZ})
        add(filter, SCMP_ACT_ALLOW, "ioctl", SCMP_A1(SCMP_CMP_EQ, static_cast<std::uint64_t>(request)));
    for (const int option : {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_DUMPABLE})
        add(filter, SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(option)));
    // Memory that the device shares with the program. The program itself must not have files that no limit counts.
    if (profile == Profile::device) add(filter, SCMP_ACT_ALLOW, "memfd_create");
    return filter;
}

Filter compile_filter() {
    Filter filter(seccomp_init(SCMP_ACT_ALLOW));
    if (!filter) throw std::runtime_error("seccomp_init failed");
    for (const char* name : compile_refused) add(filter, SCMP_ACT_ERRNO(EPERM), name);
    // Its flags lie in memory, out of a filter's sight. glibc tries it first and falls back to clone on ENOSYS.
    add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
    add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", SCMP_A0(SCMP_CMP_NE, static_cast<std::uint64_t>(AF_UNIX)));
    for (std::uint64_t flag = 1; flag != 0 && flag <= new_namespaces; flag <<= 1)
        if (flag & new_namespaces) add(filter, SCMP_ACT_ERRNO(EPERM), "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
    return filter;
}

}  // namespace

int seccomp_program(Profile profile) {
    const Filter filter = profile == Profile::compile ? compile_filter() : worker_filter(profile);
    // A 32-bit or x32 call would bypass a filter that looks at 64-bit numbers.
    check(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad architectures");
    const int program = memfd_create("seccomp", 0);
    if (program < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
    check(seccomp_export_bpf(filter.get(), program), "seccomp_export_bpf");
    lseek(program, 0, SEEK_SET);
    return program;
}

}  // namespace warpgrade::sandbox
