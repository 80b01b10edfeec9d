#include "sandbox/seccomp_filter.hpp"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "sandbox/apply_filter.hpp"

namespace warpgrade::sandbox {
namespace {

// Files by their names.
constexpr const char* path_calls[] = {"newfstatat", "stat",      "lstat",      "statx",    "open",       "openat",
                                      "access",     "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64",
                                      "getcwd",     "chdir",     "unlink",     "unlinkat", "rename",     "renameat",
                                      "renameat2",  "mkdir",     "mkdirat",    "rmdir"};

// What besides reaches processes that are not in a namespace of their own, by a number that need not be the caller's.
constexpr const char* process_calls[] = {"kill", "tgkill", "tkill", "prlimit64", "sched_setaffinity", "sched_getparam",
                                         "sched_getscheduler",
                                         // bubblewrap and the spawner start the program after the filter is in place
                                         "execve"};

// What else a C++ program with threads and inherited descriptors needs, and no more: not what tells of other processes
// (sysinfo, mincore). Names that this libseccomp does not know are skipped: they stay refused.
constexpr const char* worker_calls[] = {
    // descriptors that exist
    "read", "write", "readv", "writev", "pread64", "pwrite64", "close", "close_range", "fstat", "lseek", "ftruncate",
    "fallocate", "fsync", "fdatasync", "dup", "dup2", "dup3", "pipe", "pipe2", "poll", "ppoll", "select", "pselect6",
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd", "eventfd2", "sendto",
    "recvfrom", "sendmsg", "recvmsg", "shutdown", "getsockopt", "getsockname", "getpeername",
    // memory
    "mmap", "munmap", "mremap", "mprotect", "brk", "madvise", "msync", "mlock", "munlock", "membarrier",
    // threads, signals, time
    "futex", "set_robust_list", "get_robust_list", "rseq", "set_tid_address", "gettid", "getpid", "getppid", "getpgrp",
    "getuid", "geteuid", "getgid", "getegid", "getgroups", "sched_yield", "sched_getaffinity", "getcpu",
    "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "pause",
    "alarm", "getitimer", "setitimer", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday",
    "time", "times", "getrusage", "getrlimit", "setrlimit", "uname", "getrandom", "restart_syscall", "arch_prctl",
    "wait4", "waitid", "exit", "exit_group"};

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

Filter begin(std::uint32_t action) {
    Filter filter(seccomp_init(action));
    if (!filter) throw std::runtime_error("seccomp_init failed");
    return filter;
}

// An allow-list. What is not on it does not exist (ENOSYS), so that the C library falls back where it can.
Filter common_filter(Profile profile) {
    auto filter = begin(SCMP_ACT_ERRNO(ENOSYS));
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
    for (const int option : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE})
        add(filter, SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(option)));
    // No locks and leases: a program's two processes (judge/replay.hpp) could tell each other of them what they know.
    for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_ADD_SEALS, F_GET_SEALS})
        add(filter, SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_EQ, static_cast<std::uint64_t>(command)));
    // The judge stops a program and lets it go on: that comes without a handler, as SIGSTOP does.
    add(filter, SCMP_ACT_ALLOW, "rt_sigaction", SCMP_A0(SCMP_CMP_NE, SIGCONT));
    add(filter, SCMP_ACT_ERRNO(EINVAL), "rt_sigaction", SCMP_A0(SCMP_CMP_EQ, SIGCONT));
    // Memory that the device shares with the program. The program itself must not have files that no limit counts.
    if (profile == Profile::device) add(filter, SCMP_ACT_ALLOW, "memfd_create");
    return filter;
}

Filter worker_filter(Profile profile) {
    auto filter = common_filter(profile);
    for (const char* name : path_calls) add(filter, SCMP_ACT_ALLOW, name);
    for (const char* name : process_calls) add(filter, SCMP_ACT_ALLOW, name);
    add(filter, SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(PR_SET_PDEATHSIG)));
    return filter;
}

// But for the one that newer C libraries make of fstat().
void refuse_path_call(const Filter& filter, const char* name) {
    constexpr std::uint64_t empty_path = AT_EMPTY_PATH;
    if (std::string_view(name) != "newfstatat") return add(filter, SCMP_ACT_ERRNO(EPERM), name);
    add(filter, SCMP_ACT_ERRNO(EPERM), name, SCMP_A3(SCMP_CMP_MASKED_EQ, empty_path, 0));
}

// Of the calls that reach other processes, what reaches the caller alone.
Filter plain_filter(Profile profile, const char* empty_path) {
    auto filter = common_filter(profile);
    add(filter, SCMP_ACT_ALLOW, "tgkill", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(own_pid)));
    for (const char* name : {"prlimit64", "sched_setaffinity", "sched_getparam", "sched_getscheduler"})
        add(filter, SCMP_ACT_ALLOW, name, SCMP_A0(SCMP_CMP_EQ, 0));
    add(filter, SCMP_ACT_ALLOW, "execveat", SCMP_A1(SCMP_CMP_EQ, reinterpret_cast<std::uint64_t>(empty_path)),
        SCMP_A4(SCMP_CMP_EQ, static_cast<std::uint64_t>(AT_EMPTY_PATH)));
    if (profile == Profile::worker) {
        for (const char* name : path_calls) refuse_path_call(filter, name);
        add(filter, SCMP_ACT_ALLOW, "newfstatat",
            SCMP_A3(SCMP_CMP_MASKED_EQ, static_cast<std::uint64_t>(AT_EMPTY_PATH),
                    static_cast<std::uint64_t>(AT_EMPTY_PATH)));
        for (const char* name : {"execve", "kill", "tkill"}) add(filter, SCMP_ACT_ERRNO(EPERM), name);
        return filter;
    }
    // Libraries are loaded, and then comes the last filter.
    for (const char* name : path_calls) add(filter, SCMP_ACT_ALLOW, name);
    add(filter, SCMP_ACT_ALLOW, "seccomp");
    add(filter, SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(PR_SET_NO_NEW_PRIVS)));
    return filter;
}

Filter compile_filter() {
    auto filter = begin(SCMP_ACT_ALLOW);
    for (const char* name : compile_refused) add(filter, SCMP_ACT_ERRNO(EPERM), name);
    // Its flags lie in memory, out of a filter's sight. glibc tries it first and falls back to clone on ENOSYS.
    add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
    add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", SCMP_A0(SCMP_CMP_NE, static_cast<std::uint64_t>(AF_UNIX)));
    for (std::uint64_t flag = 1; flag != 0 && flag <= new_namespaces; flag <<= 1)
        if (flag & new_namespaces) add(filter, SCMP_ACT_ERRNO(EPERM), "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
    return filter;
}

int program_of(const Filter& filter) {
    // A 32-bit or x32 call would bypass a filter that looks at 64-bit numbers.
    check(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad architectures");
    const int program = memfd_create("seccomp", 0);
    if (program < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
    check(seccomp_export_bpf(filter.get(), program), "seccomp_export_bpf");
    lseek(program, 0, SEEK_SET);
    return program;
}

}  // namespace

int seccomp_program(Profile profile) {
    return program_of(profile == Profile::compile ? compile_filter() : worker_filter(profile));
}

int plain_program(Profile profile, const char* empty_path) {
    if (profile != Profile::compile) return program_of(plain_filter(profile, empty_path));
    auto filter = compile_filter();
    // Without a namespace of its own, what the host listens on and who runs beside it are in reach.
    add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(AF_UNIX)));
    for (const char* name :
         {"kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal"})
        add(filter, SCMP_ACT_ERRNO(EPERM), name);
    return program_of(filter);
}

int last_plain_program() {
    auto filter = begin(SCMP_ACT_ALLOW);
    for (const char* name : path_calls) refuse_path_call(filter, name);
    for (const char* name : {"execveat", "seccomp"}) add(filter, SCMP_ACT_ERRNO(EPERM), name);
    return program_of(filter);
}

}  // namespace warpgrade::sandbox
