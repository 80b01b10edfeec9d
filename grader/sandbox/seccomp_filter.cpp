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

// Calls that take a path.
constexpr const char* path_calls[] = {"newfstatat", "stat",      "lstat",      "statx",    "open",       "openat",
                                      "access",     "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64",
                                      "getcwd",     "chdir",     "unlink",     "unlinkat", "rename",     "renameat",
                                      "renameat2",  "mkdir",     "mkdirat",    "rmdir"};

// Calls that take a pid. Without a process namespace, it could be another process.
constexpr const char* process_calls[] = {"kill", "tgkill", "tkill", "prlimit64", "sched_setaffinity", "sched_getparam",
                                         "sched_getscheduler",
                                         // bubblewrap and the spawner start the program after the filter is in place
                                         "execve"};

// The other calls that a C++ program with threads and inherited descriptors needs. Calls that reveal something of other
// processes (sysinfo, mincore) are not in the list. Names that this libseccomp does not know stay refused.
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

// Calls that no compiler needs. A list of those that compilers need would be too long and differ between distributions.
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

// An allow-list. Other calls return ENOSYS, so that the C library uses its fallbacks.
Filter common_filter(Profile profile) {
    auto filter = begin(SCMP_ACT_ERRNO(ENOSYS));
    for (const char* name : worker_calls) add(filter, SCMP_ACT_ALLOW, name);
    // Threads but no processes, so that nothing outlives the program and its processor time is complete.
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
    // No locks and leases: a program and its replay (judge/replay.hpp) could use them to communicate.
    for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_ADD_SEALS, F_GET_SEALS})
        add(filter, SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_EQ, static_cast<std::uint64_t>(command)));
    // The judge stops and resumes a program, which must not have a handler for SIGCONT.
    add(filter, SCMP_ACT_ALLOW, "rt_sigaction", SCMP_A0(SCMP_CMP_NE, SIGCONT));
    add(filter, SCMP_ACT_ERRNO(EINVAL), "rt_sigaction", SCMP_A0(SCMP_CMP_EQ, SIGCONT));
    // For memory that the device shares with the program. The program itself must not make files that no limit counts.
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

// Newer C libraries use newfstatat with an empty path for fstat(), which stays allowed.
void refuse_path_call(const Filter& filter, const char* name) {
    constexpr std::uint64_t empty_path = AT_EMPTY_PATH;
    if (std::string_view(name) != "newfstatat") return add(filter, SCMP_ACT_ERRNO(EPERM), name);
    add(filter, SCMP_ACT_ERRNO(EPERM), name, SCMP_A3(SCMP_CMP_MASKED_EQ, empty_path, 0));
}

// Allows the calls with a pid only for the caller's own.
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
    // The last filter follows when the libraries are loaded.
    for (const char* name : path_calls) add(filter, SCMP_ACT_ALLOW, name);
    add(filter, SCMP_ACT_ALLOW, "seccomp");
    add(filter, SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(PR_SET_NO_NEW_PRIVS)));
    return filter;
}

Filter compile_filter() {
    auto filter = begin(SCMP_ACT_ALLOW);
    for (const char* name : compile_refused) add(filter, SCMP_ACT_ERRNO(EPERM), name);
    // A filter cannot see its flags, which are in memory. glibc falls back to clone on ENOSYS.
    add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
    add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", SCMP_A0(SCMP_CMP_NE, static_cast<std::uint64_t>(AF_UNIX)));
    for (std::uint64_t flag = 1; flag != 0 && flag <= new_namespaces; flag <<= 1)
        if (flag & new_namespaces) add(filter, SCMP_ACT_ERRNO(EPERM), "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
    return filter;
}

int export_program(const Filter& filter) {
    // A 32-bit or x32 call would bypass a filter for 64-bit numbers.
    check(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad architectures");
    const int program = memfd_create("seccomp", 0);
    if (program < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
    check(seccomp_export_bpf(filter.get(), program), "seccomp_export_bpf");
    lseek(program, 0, SEEK_SET);
    return program;
}

}  // namespace

int seccomp_program(Profile profile) {
    return export_program(profile == Profile::compile ? compile_filter() : worker_filter(profile));
}

int plain_program(Profile profile, const char* empty_path) {
    if (profile != Profile::compile) return export_program(plain_filter(profile, empty_path));
    auto filter = compile_filter();
    // Without namespaces, the host's sockets and other processes would be reachable.
    add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", SCMP_A0(SCMP_CMP_EQ, static_cast<std::uint64_t>(AF_UNIX)));
    for (const char* name :
         {"kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal"})
        add(filter, SCMP_ACT_ERRNO(EPERM), name);
    return export_program(filter);
}

int last_plain_program() {
    auto filter = begin(SCMP_ACT_ALLOW);
    for (const char* name : path_calls) refuse_path_call(filter, name);
    for (const char* name : {"execveat", "seccomp"}) add(filter, SCMP_ACT_ERRNO(EPERM), name);
    return export_program(filter);
}

}  // namespace warpgrade::sandbox
