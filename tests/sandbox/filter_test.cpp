// The filters of system calls, evaluated for single calls as in the kernel, so that neither privileges of the test nor
// the kernel's own checks change the result.
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "judge/catch.hpp"
#include "sandbox/apply_filter.hpp"
#include "sandbox/seccomp_filter.hpp"

using namespace warpgrade::sandbox;

namespace {

constexpr std::uint64_t namespace_flags[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                             CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
constexpr std::uint64_t thread_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                       CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
constexpr long allowed = 0, killed = -1;

class Filter {
  public:
    explicit Filter(int program) : instructions_(read_filter(program)) {}

    // 0 if the call is allowed; the errno if it is refused; -1 if the process is killed.
    [[nodiscard]] long of(long number, std::array<std::uint64_t, 6> arguments = {},
                          std::uint32_t architecture = AUDIT_ARCH_X86_64) const {
        seccomp_data data{};
        data.nr = static_cast<int>(number);
        data.arch = architecture;
        std::memcpy(data.args, arguments.data(), sizeof data.args);
        const auto action = run(data);
        if (action == SECCOMP_RET_ALLOW) return allowed;
        if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO) return action & SECCOMP_RET_DATA;
        if (action == SECCOMP_RET_KILL_PROCESS) return killed;
        throw std::runtime_error("an action that no filter has");
    }

  private:
    [[nodiscard]] std::uint32_t run(const seccomp_data& data) const {
        std::uint32_t value = 0;
        for (std::size_t at = 0; at < instructions_.size(); ++at) {
            const auto [code, on_true, on_false, k] = instructions_[at];
            const auto jump = [&, yes = on_true, no = on_false](bool holds) { at += holds ? yes : no; };
            switch (code) {
                case BPF_LD | BPF_W | BPF_ABS:
                    std::memcpy(&value, reinterpret_cast<const char*>(&data) + k, sizeof value);
                    break;
                case BPF_ALU | BPF_AND | BPF_K:
                    value &= k;
                    break;
                case BPF_JMP | BPF_JA:
                    at += k;
                    break;
                case BPF_JMP | BPF_JEQ | BPF_K:
                    jump(value == k);
                    break;
                case BPF_JMP | BPF_JGT | BPF_K:
                    jump(value > k);
                    break;
                case BPF_JMP | BPF_JGE | BPF_K:
                    jump(value >= k);
                    break;
                case BPF_JMP | BPF_JSET | BPF_K:
                    jump((value & k) != 0);
                    break;
                case BPF_RET | BPF_K:
                    return k;
                default:
                    throw std::runtime_error("an instruction that no filter has");
            }
        }
        throw std::runtime_error("a filter without an end");
    }
    std::vector<sock_filter> instructions_;
};

Filter worker() { return Filter(seccomp_program(Profile::worker)); }
Filter device() { return Filter(seccomp_program(Profile::device)); }
Filter compiler() { return Filter(seccomp_program(Profile::compile)); }
const char* const empty_path = reinterpret_cast<const char*>(0x1234'5678'9000);
Filter plain(Profile profile) { return Filter(plain_program(profile, empty_path)); }

// All allow-lists have what a program with threads needs, and nothing else.
void check_common(const Filter& filter) {
    for (const long call : {SYS_read, SYS_write, SYS_mmap, SYS_futex, SYS_exit_group, SYS_sendmsg, SYS_recvmsg,
                            SYS_clock_gettime, SYS_rt_sigaction, SYS_getrandom, SYS_wait4, SYS_close_range})
        CHECK(filter.of(call) == allowed);
    // Refused with EPERM, whose message users understand.
    for (const long call : {SYS_fork, SYS_vfork, SYS_socket, SYS_ptrace, SYS_unshare, SYS_setns, SYS_mount})
        CHECK(filter.of(call) == EPERM);
    // All other calls return ENOSYS, so that libraries use their fallbacks.
    for (const long call : {SYS_bpf, SYS_io_uring_setup, SYS_keyctl, SYS_connect, SYS_bind, SYS_perf_event_open,
                            SYS_process_vm_writev, SYS_pidfd_open, SYS_setuid, SYS_chmod, SYS_symlink, 999})
        CHECK(filter.of(call) == ENOSYS);
    CHECK(filter.of(SYS_clone3) == ENOSYS);
    CHECK(filter.of(SYS_clone, {thread_flags}) == allowed);
    CHECK(filter.of(SYS_clone, {SIGCHLD}) == EPERM);
    CHECK(filter.of(SYS_clone, {thread_flags & ~std::uint64_t{CLONE_THREAD}}) == EPERM);
    for (const auto flag : namespace_flags) {
        CHECK(filter.of(SYS_clone, {thread_flags | flag}) != allowed);
        CHECK(filter.of(SYS_clone, {SIGCHLD | flag}) != allowed);
    }
    for (const auto request : {FIONREAD, FIONBIO, TCGETS, TIOCGWINSZ})
        CHECK(filter.of(SYS_ioctl, {1, static_cast<std::uint64_t>(request)}) == allowed);
    for (const auto request : {TIOCSTI, TIOCSCTTY, TCSETS, FIOASYNC, TIOCLINUX})
        CHECK(filter.of(SYS_ioctl, {1, static_cast<std::uint64_t>(request)}) == ENOSYS);
    for (const int option : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE})
        CHECK(filter.of(SYS_prctl, {static_cast<std::uint64_t>(option)}) == allowed);
    for (const int option : {PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_PTRACER, PR_SET_MM})
        CHECK(filter.of(SYS_prctl, {static_cast<std::uint64_t>(option)}) == ENOSYS);
}

}  // namespace

TEST_CASE("a filter kills what numbers its calls in another way") {
    for (const auto& filter : {worker(), device(), compiler(), plain(Profile::worker), plain(Profile::compile)}) {
        CHECK(filter.of(SYS_read, {}, AUDIT_ARCH_I386) == killed);
        CHECK(filter.of(SYS_read, {}, AUDIT_ARCH_AARCH64) == killed);
        CHECK(filter.of(SYS_read | 0x4000'0000) == killed);  // x32
    }
}

TEST_CASE("a worker makes the calls of a program with threads, and no others") {
    for (const auto& filter : {worker(), device()}) {
        check_common(filter);
        for (const long call : {SYS_openat, SYS_newfstatat, SYS_unlink, SYS_fcntl, SYS_kill, SYS_tgkill, SYS_execve,
                                SYS_prlimit64, SYS_sched_setaffinity})
            CHECK(filter.of(call) == allowed);
        CHECK(filter.of(SYS_execveat) == ENOSYS);
        CHECK(filter.of(SYS_prctl, {PR_SET_PDEATHSIG}) == allowed);  // bubblewrap's own
        CHECK(filter.of(SYS_prctl, {PR_SET_NO_NEW_PRIVS}) == ENOSYS);
        CHECK(filter.of(SYS_seccomp) == ENOSYS);
    }
    CHECK(worker().of(SYS_memfd_create) == ENOSYS);
    CHECK(device().of(SYS_memfd_create) == allowed);
}

TEST_CASE("without namespaces, a call that names a process names the caller") {
    for (const auto profile : {Profile::worker, Profile::device}) {
        const auto filter = plain(profile);
        check_common(filter);
        CHECK(filter.of(SYS_tgkill, {own_pid}) == allowed);
        CHECK(filter.of(SYS_tgkill, {own_pid + 1}) != allowed);
        CHECK(filter.of(SYS_tgkill, {0}) != allowed);
        for (const long call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler}) {
            CHECK(filter.of(call, {0}) == allowed);
            CHECK(filter.of(call, {1}) != allowed);
            CHECK(filter.of(call, {own_pid}) != allowed);
            CHECK(filter.of(call, {std::uint64_t{1} << 32}) != allowed);
        }
        for (const int command :
             {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_ADD_SEALS, F_GET_SEALS})
            CHECK(filter.of(SYS_fcntl, {1, static_cast<std::uint64_t>(command)}) == allowed);
        for (const int command : {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY, F_SETLK})
            CHECK(filter.of(SYS_fcntl, {1, static_cast<std::uint64_t>(command)}) == ENOSYS);
        const auto path = reinterpret_cast<std::uint64_t>(empty_path);
        CHECK(filter.of(SYS_execveat, {3, path, 0, 0, AT_EMPTY_PATH}) == allowed);
        CHECK(filter.of(SYS_execveat, {3, path, 0, 0, 0}) != allowed);
        CHECK(filter.of(SYS_execveat, {3, path, 0, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW}) != allowed);
        CHECK(filter.of(SYS_execveat, {3, path + 1, 0, 0, AT_EMPTY_PATH}) != allowed);
        CHECK(filter.of(SYS_execveat, {3, path | std::uint64_t{1} << 32, 0, 0, AT_EMPTY_PATH}) != allowed);
        for (const long call : {SYS_execve, SYS_kill, SYS_tkill})
            CHECK(filter.of(call, {1}) == (profile == Profile::worker ? EPERM : ENOSYS));
        CHECK(filter.of(SYS_prctl, {PR_SET_PDEATHSIG}) == ENOSYS);
    }
}

TEST_CASE("without namespaces, a worker names no file, and a device server none after its last filter") {
    const auto check_no_files = [](const Filter& filter) {
        for (const long call : {SYS_open, SYS_openat, SYS_stat, SYS_access, SYS_readlink, SYS_chdir, SYS_unlink,
                                SYS_rename, SYS_mkdir, SYS_getdents64})
            CHECK(filter.of(call) == EPERM);
        CHECK(filter.of(SYS_newfstatat, {0, 0, 0, 0}) == EPERM);
        CHECK(filter.of(SYS_newfstatat, {0, 0, 0, AT_SYMLINK_NOFOLLOW}) == EPERM);
        CHECK(filter.of(SYS_newfstatat, {0, 0, 0, AT_EMPTY_PATH}) == allowed);  // fstat() of newer C libraries
        CHECK(filter.of(SYS_newfstatat, {0, 0, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW}) == allowed);
    };
    check_no_files(plain(Profile::worker));
    const auto before = plain(Profile::device);
    for (const long call : {SYS_open, SYS_openat, SYS_newfstatat, SYS_readlink, SYS_seccomp})
        CHECK(before.of(call) == allowed);
    CHECK(before.of(SYS_prctl, {PR_SET_NO_NEW_PRIVS}) == allowed);
    const Filter last(last_plain_program());
    check_no_files(last);
    for (const long call : {SYS_execveat, SYS_seccomp}) CHECK(last.of(call) == EPERM);
    for (const long call : {SYS_read, SYS_mmap, SYS_clone}) CHECK(last.of(call) == allowed);  // the first one decides
    CHECK(plain(Profile::worker).of(SYS_seccomp) == ENOSYS);
    CHECK(plain(Profile::worker).of(SYS_prctl, {PR_SET_NO_NEW_PRIVS}) == ENOSYS);
}

TEST_CASE("a compiler makes all calls but those that reach beyond it") {
    for (const bool in_namespaces : {true, false}) {
        const auto filter = in_namespaces ? compiler() : plain(Profile::compile);
        for (const long call : {SYS_openat, SYS_execve, SYS_vfork, SYS_chmod, SYS_symlink, SYS_fcntl, SYS_ioctl, 999})
            CHECK(filter.of(call) == allowed);
        for (const long call : {SYS_ptrace, SYS_process_vm_readv, SYS_bpf, SYS_io_uring_setup, SYS_keyctl, SYS_mount,
                                SYS_unshare, SYS_setns, SYS_personality, SYS_mq_open})
            CHECK(filter.of(call) == EPERM);
        CHECK(filter.of(SYS_clone3) == ENOSYS);  // its flags cannot be seen: the C library goes on with clone
        CHECK(filter.of(SYS_clone, {SIGCHLD}) == allowed);
        CHECK(filter.of(SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}) == allowed);
        CHECK(filter.of(SYS_clone, {thread_flags}) == allowed);
        for (const auto flag : namespace_flags) {
            CHECK(filter.of(SYS_clone, {flag | SIGCHLD}) == EPERM);
            CHECK(filter.of(SYS_clone, {flag | CLONE_NEWUSER | SIGCHLD}) == EPERM);
        }
        for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_UNSPEC})
            CHECK(filter.of(SYS_socket, {static_cast<std::uint64_t>(family)}) == EAFNOSUPPORT);
        CHECK(filter.of(SYS_socket, {AF_UNIX}) == (in_namespaces ? allowed : EAFNOSUPPORT));
        for (const long call :
             {SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal})
            CHECK(filter.of(call) == (in_namespaces ? allowed : EPERM));
        CHECK(filter.of(SYS_tgkill) == allowed);
    }
}

TEST_CASE("a filter is read from its begin, closed, and refused where it is none") {
    const int file = memfd_create("filter", 0), again = dup(file);
    const sock_filter instructions[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, {BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 7}, {BPF_RET | BPF_K, 0, 0, 9}};
    REQUIRE(write(file, instructions, sizeof instructions) == sizeof instructions);  // which leaves it at its end
    const auto read = read_filter(file);
    CHECK(fcntl(file, F_GETFD) < 0);
    REQUIRE(read.size() == 3);
    CHECK(std::memcmp(read.data(), instructions, sizeof instructions) == 0);
    REQUIRE(ftruncate(again, sizeof instructions - 1) == 0);
    CHECK_THROWS_AS(read_filter(again), std::system_error);
    REQUIRE(ftruncate(again, 0) == 0);
    CHECK_THROWS_AS(read_filter(again), std::system_error);
    close(again);
    CHECK_THROWS_AS(read_filter(-1), std::system_error);
    const pid_t child = fork();  // which is filtered for good if this one is taken
    if (child == 0) {
        try {
            apply_filter({});
        } catch (const std::system_error& error) {
            _exit(error.code().value() == EINVAL ? 0 : 1);
        }
        _exit(2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}
