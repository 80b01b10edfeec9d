#include "sandbox/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <system_error>

#include "sandbox/bwrap.hpp"
#include "sandbox/identity.hpp"
#include "sandbox/limits.hpp"
#include "sandbox/plain.hpp"
#include "sandbox/seccomp_filter.hpp"
#include "sandbox/spawner.hpp"
#include "sandbox/spawner_image.hpp"

namespace warpgrade::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

struct Pipe {
    int read_end = -1, write_end = -1;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
        read_end = ends[0];
        write_end = ends[1];
    }
};

void keep_on_exec(int fd) {
    if (fcntl(fd, F_SETFD, 0) != 0) _exit(exit_not_started);
}

// The command must not read the caller's terminal or pipe.
void empty_standard_input() {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0) fail("/dev/null");
}

// Ends this process with its caller. Call it after a change of user, which resets it.
void end_with_caller(pid_t caller) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != caller) _exit(exit_not_started);
}

// Makes the kernel kill sandboxed programs first when memory runs out.
void volunteer_for_oom() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

[[noreturn]] void exec_or_exit(const std::vector<std::string>& command) {
    const auto arguments = null_terminated(command);
    execvp(arguments[0], arguments.data());
    std::fprintf(stderr, "warpgrade-sandbox: cannot run %s: %s\n", arguments[0], std::strerror(errno));
    _exit(exit_not_started);
}

// Reads bubblewrap's status reports, and copies them to the caller.
class StatusReader {
  public:
    StatusReader(int fd, int copy_to) : fd_(fd), copy_to_(copy_to) {}

    // Waits for the number after `key`. Returns -1 if the writer has ended without it, -2 at the deadline.
    long wait_for(const std::string& key, Clock::time_point deadline) {
        for (;;) {
            if (const auto at = text_.find('"' + key + "\":"); at != std::string::npos) {
                const auto digits = at + key.size() + 3;
                if (text_.find_first_of(",}\n", digits) != std::string::npos)
                    return std::strtol(text_.c_str() + digits, nullptr, 10);
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
            if (left <= 0) return -2;
            pollfd entry{fd_, POLLIN, 0};
            const int ready = poll(&entry, 1, static_cast<int>(std::min<long long>(left, 1'000'000)));
            if (ready < 0) fail("poll");
            if (ready == 0) continue;
            char buffer[4096];
            const ssize_t got = read(fd_, buffer, sizeof buffer);
            if (got <= 0) return -1;
            // bubblewrap writes `"key": N`; without spaces it is easier to find.
            for (ssize_t i = 0; i < got; ++i)
                if (buffer[i] != ' ') text_ += buffer[i];
            // It does not matter if the caller has stopped reading.
            if (copy_to_ >= 0) [[maybe_unused]]
                const auto written = write(copy_to_, buffer, static_cast<std::size_t>(got));
        }
    }

  private:
    int fd_, copy_to_;
    std::string text_;
};

Clock::time_point make_deadline(const Options& options) {
    if (options.seconds <= 0) return Clock::now() + std::chrono::hours(24 * 365);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
}

BwrapDescriptors open_for_bwrap(const Options& options) {
    BwrapDescriptors inner;
    for (const auto& [source, target] : options.files) {
        inner.files.push_back(open(source.c_str(), O_RDONLY | O_CLOEXEC));
        if (inner.files.back() < 0) fail("cannot read " + source);
    }
    inner.seccomp = seccomp_program(options.profile);
    return inner;
}

// Changes to the run's user and starts bubblewrap with the descriptors of `inner` and `kept`.
pid_t start_bwrap(const Options& options, const BwrapDescriptors& inner, const std::vector<int>& kept, pid_t caller) {
    volunteer_for_oom();  // before the change of user, which closes /proc/self to us
    // The compiler keeps the caller's user, since only the caller may have access to its toolkit and output folder. It
    // runs no student's code and sees only the bound folders.
    if (options.profile != Profile::compile && !leave_root()) throw std::runtime_error("there is no user but root");
    end_with_caller(caller);
    const pid_t supervisor = getpid(), child = fork();
    if (child < 0) fail("fork");
    if (child > 0) return child;
    end_with_caller(supervisor);
    close_descriptors_on_exec();
    empty_standard_input();
    for (const int fd : kept) keep_on_exec(fd);
    for (const int fd : inner.files) keep_on_exec(fd);
    for (const int fd : {inner.seccomp, inner.block, inner.status})
        if (fd >= 0) keep_on_exec(fd);
    exec_or_exit(bwrap_arguments(options, inner));
}

int run_confined(const Options& options, pid_t caller) {
    auto inner = open_for_bwrap(options);
    const Pipe block, status;
    inner.block = block.read_end;
    inner.status = status.write_end;
    const auto deadline = make_deadline(options);
    const pid_t child = start_bwrap(options, inner, options.keep_fds, caller);
    for (const int fd : {status.write_end, block.read_end, inner.seccomp}) close(fd);
    for (const int fd : options.keep_fds)
        if (fd > 2) close(fd);  // so that the other end notices the end of the command

    StatusReader reports(status.read_end, options.status_fd);
    const long command_pid = reports.wait_for("child-pid", deadline);
    bool started = false, timed_out = command_pid == -2;
    // The command goes first: before it has begun, it may not yet be set to end with bubblewrap.
    const auto end_all = [&] {
        if (command_pid > 0) kill(static_cast<pid_t>(command_pid), SIGKILL);
        kill(child, SIGKILL);
    };
    if (command_pid > 0) {
        try {
            // The limits are set for the blocked command, in its own user namespace, so that the limit of processes
            // does not count those of the caller.
            set_limits(options, static_cast<pid_t>(command_pid));
            if (write(block.write_end, "x", 1) != 1) fail("starting the command");
        } catch (const std::system_error&) {
            end_all();
            throw;
        }
        const long code = reports.wait_for("exit-code", deadline);
        started = code >= 0;
        timed_out = code == -2;
    }
    if (timed_out) end_all();
    const int code = wait_for_exit(child);
    return timed_out ? exit_timed_out : started ? code : exit_not_started;
}

std::vector<std::string> make_environment(const Options& options) {
    std::vector<std::string> environment;
    for (const auto& [key, value] : options.environment) environment.push_back(key + '=' + value);
    return environment;
}

// A temporary folder for a compiler that has no /tmp of its own.
class TemporaryFolder {
  public:
    explicit TemporaryFolder(Options& options) {
        if (!options.plain || options.profile != Profile::compile) return;
        char path[] = "/tmp/warpgrade-XXXXXX";
        if (!mkdtemp(path)) fail("making a folder in /tmp");
        path_ = path;
        options.writable.emplace_back(path_, path_);
        if (options.directory.empty() || options.directory == "/tmp") options.directory = path_;
        for (auto& [key, value] : options.environment)
            if (value == "/tmp") value = path_;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }

  private:
    std::string path_;
};

// Returns the function that becomes the command without namespaces: in the plain sandbox, or unconfined.
std::function<void()> prepare_command(Options& options) {
    if (options.unconfined) {
        auto command = options.command;
        for (const auto& [source, target] : options.files)
            if (command[0] == target) command[0] = std::filesystem::absolute(source).string();
        return [command, environment = make_environment(options)] { execute(command, environment); };
    }
    const auto sandbox = std::make_shared<PlainSandbox>(options);
    volunteer_for_oom();
    prctl(PR_SET_DUMPABLE, 0);
    // The limit of processes counts all of a user's, so it needs the run's own user.
    const bool own_user = options.profile != Profile::compile && geteuid() == 0 && leave_root();
    if (!own_user) options.processes.reset();
    return [sandbox, environment = make_environment(options)] { sandbox->run(environment); };
}

int run_without_namespaces(Options options, pid_t caller) {
    const TemporaryFolder temporary(options);
    const auto run_command = prepare_command(options);
    const auto deadline = make_deadline(options);
    const Pipe not_started;
    end_with_caller(caller);
    const pid_t supervisor = getpid(), child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        end_with_caller(supervisor);
        setpgid(0, 0);
        close_descriptors_on_exec();
        empty_standard_input();
        for (const int fd : options.keep_fds) keep_on_exec(fd);
        if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) {
            std::perror("warpgrade-sandbox: chdir");
            _exit(exit_not_started);
        }
        try {
            set_limits(options, 0, 1);  // the supervisor counts too
            run_command();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "warpgrade-sandbox: %s\n", error.what());
            [[maybe_unused]] const auto written = write(not_started.write_end, "x", 1);
        }
        _exit(exit_not_started);
    }
    for (const int fd : options.keep_fds)
        if (fd > 2) close(fd);
    close(not_started.write_end);
    if (char failed; read(not_started.read_end, &failed, 1) == 1) return wait_for_exit(child);
    if (options.status_fd >= 0) dprintf(options.status_fd, "{ \"child-pid\": %d }\n", child);
    siginfo_t ended{};
    while (ended.si_pid == 0 && Clock::now() < deadline) {
        if (options.seconds <= 0) {
            waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
        } else {
            waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT | WNOHANG);
            if (ended.si_pid == 0) usleep(10'000);
        }
    }
    kill(-child, SIGKILL);  // ends the command's children
    const int code = wait_for_exit(child);
    if (options.status_fd >= 0) dprintf(options.status_fd, "{ \"exit-code\": %d }\n", code);
    return ended.si_pid == 0 ? exit_timed_out : code;
}

// Runs a sandbox whose first process is the spawner.
int run_spawner(const Options& options, pid_t caller) {
    const std::string program = "/warpgrade-spawner";
    auto inner = open_for_bwrap(options);
    Options outer = options;
    outer.files.emplace_back("", program);
    inner.files.push_back(memfd_create("warpgrade-spawner", MFD_CLOEXEC));
    const auto image = spawner_image();
    if (inner.files.back() < 0 || write(inner.files.back(), image.data(), image.size()) != std::ssize(image) ||
        lseek(inner.files.back(), 0, SEEK_SET) != 0)
        fail("the spawner's file");
    outer.command = {program,
                     "--profile",
                     name_of(options.profile),
                     "--spawner-fd",
                     std::to_string(options.spawner_fd),
                     "--seccomp-fd",
                     std::to_string(inner.seccomp),
                     "--tmp-mib",
                     std::to_string(options.tmp_mib)};
    const auto add = [&](const char* option, const std::string& value) {
        outer.command.emplace_back(option);
        outer.command.push_back(value);
    };
    if (!options.directory.empty()) add("--chdir", options.directory);
    if (options.cpu_seconds) add("--cpu-seconds", std::to_string(*options.cpu_seconds));
    if (options.memory_mib) add("--memory-mib", std::to_string(*options.memory_mib));
    if (options.file_size_mib) add("--file-size-mib", std::to_string(*options.file_size_mib));
    if (options.processes) add("--processes", std::to_string(*options.processes));
    outer.command.emplace_back("--");
    outer.command.insert(outer.command.end(), options.command.begin(), options.command.end());

    const pid_t child = start_bwrap(outer, inner, {options.spawner_fd}, caller);
    close(options.spawner_fd);  // so that the judge notices the end of the spawner
    return wait_for_exit(child);
}

int run_spawner_without_namespaces(Options options, pid_t caller) {
    const auto run_command = prepare_command(options);
    end_with_caller(caller);
    empty_standard_input();
    serve({options, run_command});
    return 0;
}

}  // namespace

int wait_for_exit(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) < 0) fail("waitpid");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run(const Options& options) {
    const pid_t caller = getppid();
    signal(SIGPIPE, SIG_IGN);  // no signal has a handler, so none interrupts a call
    // Checked before this process opens anything, which could take one of these numbers.
    for (const int fd : options.keep_fds)
        if (fcntl(fd, F_GETFD) < 0) fail("descriptor " + std::to_string(fd) + " cannot be kept");
    if (fcntl(0, F_GETFD) < 0) empty_standard_input();  // whose number a file would have
    if (options.spawner_fd >= 0)
        return options.has_namespaces() ? run_spawner(options, caller)
                                        : run_spawner_without_namespaces(options, caller);
    return options.has_namespaces() ? run_confined(options, caller) : run_without_namespaces(options, caller);
}

}  // namespace warpgrade::sandbox
