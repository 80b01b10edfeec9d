#include "judge/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "judge/errors.hpp"

namespace warpgrade::judge {
namespace {

[[noreturn]] void fail(const std::string& what) { throw InfrastructureError(what + ": " + std::strerror(errno)); }

// Moves a descriptor to a high number, which never collides with the children's numbers.
Descriptor move_high(int fd) {
    constexpr int first = 64;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, first);
    close(fd);
    if (high < 0) fail("descriptors");
    return Descriptor(high);
}

}  // namespace

std::pair<Descriptor, Descriptor> socket_pair(int type) {
    int ends[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
    return {move_high(ends[0]), move_high(ends[1])};
}

std::pair<Descriptor, Descriptor> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    return {move_high(ends[0]), move_high(ends[1])};
}

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
}

Process::Process(const std::vector<std::string>& command, const std::vector<std::pair<int, int>>& descriptors) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (const auto& [theirs, ours] : descriptors) posix_spawn_file_actions_adddup2(&actions, ours, theirs);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    errno = posix_spawn(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
    const bool failed = errno != 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed) {
        pid_ = 0;
        fail("cannot start " + command[0]);
    }
}

Process::~Process() {
    kill();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

void Process::kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::optional<int> Process::wait(Clock::time_point deadline) {
    // waitpid() has no time-out, so poll a pidfd.
    const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    pollfd entry{handle.get(), POLLIN, 0};
    poll(&entry, 1, milliseconds_until(deadline));
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = 0;
    return status;
}

}  // namespace warpgrade::judge
