#include "judge/prepared.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>

#include "judge/errors.hpp"
#include "sandbox/spawn_wire.hpp"

namespace warpgrade::judge {

namespace spawn = sandbox::spawn;

namespace {

constexpr int spawner_fd = 3;
double used_in_sandboxes_ms = 0;
constexpr auto start_patience = std::chrono::seconds(30), end_patience = std::chrono::seconds(5);

}  // namespace

class PreparedSandbox {
  public:
    PreparedSandbox(std::vector<std::string> sandbox, const std::vector<std::string>& command) {
        auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
        auto [output, output_theirs] = make_pipe();
        const int on = 1;
        if (setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
            throw InfrastructureError(std::string("SO_PASSCRED: ") + std::strerror(errno));
        sandbox.insert(sandbox.end(), {"--spawner-fd", std::to_string(spawner_fd), "--"});
        sandbox.insert(sandbox.end(), command.begin(), command.end());
        process_ = Process(sandbox, {{1, output_theirs.get()}, {2, output_theirs.get()}, {spawner_fd, theirs.get()}});
        socket_ = std::move(ours);
        output_ = std::move(output);
        fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    }

    struct Child {
        pid_t pid = 0;  // as this process sees it
        Descriptor handle;
        std::optional<int> status;
        std::string start_error;
    };

    [[nodiscard]] bool has_ended() const { return !socket_; }

    std::uint32_t start(const std::vector<std::pair<int, int>>& descriptors) {
        spawn::Request request;
        request.id = ++last_id_;
        std::vector<int> files;
        for (const auto& [theirs, ours] : descriptors) {
            request.numbers[request.count++] = theirs;
            files.push_back(ours);
        }
        auto& child = children_[request.id];
        if (!spawn::send(socket_.get(), request, files)) fail("did not start");
        const auto deadline = Clock::now() + start_patience;
        while (!child.status && child.start_error.empty() && !(child.pid > 0 && child.handle))
            if (!receive_report(deadline)) {
                end();
                throw InfrastructureError("the sandbox does not start its program in time");
            }
        if (child.start_error.empty() && child.pid > 0 && child.handle) return request.id;
        const auto error = child.start_error.empty() ? "the program ended before it began" : child.start_error;
        children_.erase(request.id);
        throw InfrastructureError("the sandbox did not start: " + error);
    }

    Child& child(std::uint32_t id) { return children_.at(id); }
    void forget(std::uint32_t id) { children_.erase(id); }

    // Returns false if no report comes by the deadline.
    bool receive_report(Clock::time_point deadline) {
        if (has_ended()) throw InfrastructureError("the sandbox has ended");
        pollfd entry{socket_.get(), POLLIN, 0};
        if (poll(&entry, 1, milliseconds_until(deadline)) <= 0) return false;
        spawn::Report report;
        spawn::Attached attached;
        const bool valid = spawn::receive(socket_.get(), report, attached);
        std::vector<Descriptor> received;
        for (const int fd : attached.descriptors) received.emplace_back(fd);
        if (!valid) fail("ended unexpectedly");
        if (report.kind == spawn::Kind::ended) used_in_sandboxes_ms += report.cpu_ms;
        const auto found = children_.find(report.id);
        if (found == children_.end()) return true;  // its SandboxedProcess is gone
        Child& child = found->second;
        switch (report.kind) {
            case spawn::Kind::forked:
                if (!received.empty()) child.handle = std::move(received[0]);
                break;
            case spawn::Kind::ready:
                child.pid = attached.sender;
                break;
            case spawn::Kind::failed:
                child.start_error = fmt::format("{}: {}", report.step, std::strerror(report.value));
                break;
            case spawn::Kind::ended:
                child.status = report.value;
                break;
        }
        return true;
    }

    void end() {
        socket_.reset();
        process_.kill();
    }

  private:
    [[noreturn]] void fail(const char* how) {
        process_.wait(Clock::now() + std::chrono::seconds(1));  // for the rest of its output
        char words[1024];
        const ssize_t got = read(output_.get(), words, sizeof words);
        std::string text = std::string("the sandbox ") + how;
        if (got > 0) text += ": " + std::string(words, static_cast<std::size_t>(got));
        end();
        throw InfrastructureError(text);
    }

    Descriptor socket_, output_;
    Process process_;
    std::map<std::uint32_t, Child> children_;
    std::uint32_t last_id_ = 0;
};

namespace {

std::shared_ptr<PreparedSandbox> prepare_sandbox(const std::string& name, const std::vector<std::string>& sandbox,
                                                 const std::vector<std::string>& command) {
    static std::map<std::vector<std::string>, std::shared_ptr<PreparedSandbox>> all;
    std::vector<std::string> key{name};
    key.insert(key.end(), sandbox.begin(), sandbox.end());
    key.emplace_back("--");
    key.insert(key.end(), command.begin(), command.end());
    auto& found = all[key];
    if (!found || found->has_ended()) found = std::make_shared<PreparedSandbox>(sandbox, command);
    return found;
}

}  // namespace

SandboxedProcess::SandboxedProcess(const std::string& name, std::vector<std::string> sandbox,
                                   const std::vector<std::string>& command,
                                   const std::vector<std::pair<int, int>>& descriptors)
    : sandbox_(prepare_sandbox(name, sandbox, command)), id_(sandbox_->start(descriptors)) {
    handle_ = std::move(sandbox_->child(id_).handle);
}

SandboxedProcess& SandboxedProcess::operator=(SandboxedProcess&& other) noexcept {
    std::swap(sandbox_, other.sandbox_);
    std::swap(id_, other.id_);
    std::swap(handle_, other.handle_);
    return *this;
}

SandboxedProcess::~SandboxedProcess() { end(); }

void SandboxedProcess::end() noexcept {
    if (!sandbox_) return;
    try {
        if (!sandbox_->has_ended() && !wait(Clock::now())) {
            kill();
            // The whole sandbox ends if the process cannot be killed; the next process gets a new one.
            if (!wait(Clock::now() + end_patience)) sandbox_->end();
        }
    } catch (const std::exception&) {
        // The process ended with its sandbox.
    }
    sandbox_->forget(id_);
}

std::optional<int> SandboxedProcess::wait(Clock::time_point deadline) {
    auto& child = sandbox_->child(id_);
    while (!child.status) {
        if (!child.start_error.empty()) throw InfrastructureError("the sandbox did not start: " + child.start_error);
        if (!sandbox_->receive_report(deadline)) return std::nullopt;
    }
    return child.status;
}

double SandboxedProcess::processor_seconds() const {
    clockid_t clock{};
    timespec used{};
    const auto& child = sandbox_->child(id_);
    if (child.status || clock_getcpuclockid(child.pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

bool SandboxedProcess::signal(int number) {
    return handle_ && syscall(SYS_pidfd_send_signal, handle_.get(), number, nullptr, 0) == 0;
}

void SandboxedProcess::kill() { signal(SIGKILL); }

double used_processor_seconds() {
    double us = used_in_sandboxes_ms * 1e3;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        us += static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
              static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    }
    return us / 1e6;
}

}  // namespace warpgrade::judge
