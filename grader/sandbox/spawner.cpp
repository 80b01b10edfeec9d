#include "sandbox/spawner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "sandbox/limits.hpp"
#include "sandbox/spawn_wire.hpp"

namespace warpgrade::sandbox {
namespace {

struct Child {
    std::uint32_t id;
    pid_t pid;
    int handle;  // pidfd, readable after the process has ended
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void require(bool done, const char* step) {
    if (!done) fail(step);
}

// Gives the command its own /tmp, which ends with it, and a /proc with its own processes only.
void mount_own_folders(const Options& options) {
    require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mounts");
    const std::string size = "mode=1777,size=" + std::to_string(options.tmp_mib << 20);
    require(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, size.c_str()) == 0, "/tmp");
    if (options.profile == Profile::device)
        require(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0, "/proc");
}

// High numbers never collide with the command's.
int duplicate_high(int fd) {
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, 64);
    require(high >= 0, "descriptors");
    return high;
}

void place_descriptors(const spawn::Request& request, std::vector<int>& received) {
    for (int& fd : received) fd = duplicate_high(fd);
    close_descriptors_on_exec();
    for (std::size_t i = 0; i < received.size(); ++i)
        require(dup2(received[i], request.numbers[i]) == request.numbers[i], "descriptors");
}

// Runs in the new process.
[[noreturn]] void become_command(const SpawnPlan& plan, const spawn::Request& request, std::vector<int>& received,
                                 pid_t spawner) {
    const Options& options = plan.options;
    spawn::Report report;
    report.id = request.id;
    int socket = options.spawner_fd;
    try {
        // An inner process namespace ends with the spawner anyway.
        require(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "end");
        if (!options.has_namespaces() && getppid() != spawner) _exit(125);
        socket = duplicate_high(socket);
        require(setsid() > 0, "session");  // keeps signals to the process group from the spawner
        if (options.has_namespaces()) mount_own_folders(options);
        const std::string directory =
            options.has_namespaces() && options.directory.empty() ? "/tmp" : options.directory;
        require(directory.empty() || chdir(directory.c_str()) == 0, "working folder");
        place_descriptors(request, received);
        set_limits(options, 0, 1);  // the spawner counts too
        report.kind = spawn::Kind::ready;
        require(spawn::send(socket, report), "report");
        plan.run();  // exec() closes the socket
    } catch (const std::system_error& error) {
        report.kind = spawn::Kind::failed;
        report.value = error.code().value();
        const std::string what = error.what();  // "STEP: reason"
        std::strncpy(report.step, what.substr(0, what.find(':')).c_str(), sizeof report.step - 1);
        spawn::send(socket, report);
    }
    _exit(125);
}

// Each command gets its own process namespace, so that it sees no other process and its children end with it.
void start(const SpawnPlan& plan, const spawn::Request& request, std::vector<int>& received,
           std::vector<Child>& children) {
    const unsigned long namespaces = plan.options.has_namespaces() ? CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC : 0;
    int handle = -1;
    const pid_t spawner = getpid();
    const auto pid =
        static_cast<pid_t>(syscall(SYS_clone, namespaces | CLONE_PIDFD | SIGCHLD, nullptr, &handle, nullptr, nullptr));
    if (pid == 0) become_command(plan, request, received, spawner);
    spawn::Report report;
    report.id = request.id;
    if (pid < 0) {
        report.kind = spawn::Kind::failed;
        report.value = errno;
        std::strncpy(report.step, "process", sizeof report.step - 1);
        if (!spawn::send(plan.options.spawner_fd, report)) fail("report");
        return;
    }
    children.push_back({request.id, pid, handle});
    if (!spawn::send(plan.options.spawner_fd, report, std::span(&handle, 1))) fail("report");
}

void reap(const SpawnPlan& plan, Child& child) {
    spawn::Report report;
    report.id = child.id;
    report.kind = spawn::Kind::ended;
    // Without a process namespace, its children are still in its session.
    if (!plan.options.has_namespaces()) kill(-child.pid, SIGKILL);
    int status = 0;
    rusage used{};
    if (wait4(child.pid, &status, 0, &used) < 0) fail("wait4");
    report.value = status;
    report.cpu_ms = spawn::cpu_ms(used);
    close(std::exchange(child.handle, -1));
    if (!spawn::send(plan.options.spawner_fd, report)) fail("report");
}

}  // namespace

void execute(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    const auto arguments = null_terminated(command), variables = null_terminated(environment);
    execvpe(arguments[0], arguments.data(), variables.data());
    fail("running it");
}

void close_descriptors_on_exec() {
    constexpr unsigned close_range_cloexec = 4;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
    if (syscall(SYS_close_range, 3u, ~0u, close_range_cloexec) == 0) return;
    for (int fd = 3, end = static_cast<int>(sysconf(_SC_OPEN_MAX)); fd < end; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::vector<char*> null_terminated(const std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (const auto& text : strings) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

void serve(const SpawnPlan& plan) {
    prctl(PR_SET_DUMPABLE, 0);  // the commands must not read or trace it
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    std::vector<Child> children;
    for (;;) {
        std::vector<pollfd> entries{{plan.options.spawner_fd, POLLIN, 0}};
        for (const auto& child : children) entries.push_back({child.handle, POLLIN, 0});
        if (poll(entries.data(), entries.size(), -1) < 0) fail("poll");
        for (std::size_t i = 0; i < children.size(); ++i)
            if (entries[i + 1].revents) reap(plan, children[i]);
        std::erase_if(children, [](const Child& child) { return child.handle < 0; });
        if (!entries[0].revents) continue;
        spawn::Request request;
        spawn::Attached attached;
        const bool valid = spawn::receive(plan.options.spawner_fd, request, attached) &&
                           request.count == attached.descriptors.size() && request.count <= spawn::max_descriptors;
        if (!valid) break;
        start(plan, request, attached.descriptors, children);
        for (const int fd : attached.descriptors) close(fd);
    }
    for (const auto& child : children) kill(plan.options.has_namespaces() ? child.pid : -child.pid, SIGKILL);
}

}  // namespace warpgrade::sandbox
