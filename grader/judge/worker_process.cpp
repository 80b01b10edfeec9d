#include "judge/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>

#include "device/descriptor_passing.hpp"
#include "judge/device_server.hpp"
#include "judge/errors.hpp"

namespace warpgrade::judge {
namespace {

constexpr int call_fd = 3, device_fd = 4;
constexpr const char* path_in_sandbox = "/worker";

std::vector<std::string> command_line(const Options& options, const std::string& executable, bool with_device) {
    std::vector<std::string> command{options.sandbox, "--profile", "worker", "--file", executable, path_in_sandbox};
    const auto add = [&](std::initializer_list<std::string> more) { command.insert(command.end(), more); };
    if (options.no_sandbox) add({"--unconfined"});
    if (options.plain_sandbox) add({"--sandbox", "plain"});
    add({"--setenv", "WARPGRADE_CALL_FD", std::to_string(call_fd)});
    if (with_device) add({"--setenv", "WARPGRADE_DEVICE_FD", std::to_string(device_fd)});
    // The judge has its own, lower limit; this one is for programs with many threads, and if the judge has ended.
    add({"--cpu-seconds", std::to_string(static_cast<long>(std::ceil(options.seconds * 4)) + 2)});
    add({"--memory-mib", std::to_string(options.memory_mib), "--file-size-mib", "64", "--processes", "64"});
    return command;
}

}  // namespace

void OutputTail::append(const char* text, std::size_t size) {
    total_ += size;
    lines_ += static_cast<std::uint64_t>(std::count(text, text + size, '\n'));
    if (size >= max_bytes) {
        tail_.assign(text + size - max_bytes, max_bytes);
    } else {
        tail_.append(text, size);
        if (tail_.size() > 2 * max_bytes) tail_.erase(0, tail_.size() - max_bytes);
    }
}

std::string OutputTail::text() const {
    const auto kept = std::min(tail_.size(), max_bytes);
    if (total_ == kept) return tail_;
    std::string_view last = std::string_view(tail_).substr(tail_.size() - kept);
    // Half a line is worth nothing, unless it is all there is.
    if (const auto end = last.find('\n'); end != last.npos && end + 1 < last.size()) last.remove_prefix(end + 1);
    const auto lines = static_cast<std::uint64_t>(std::count(last.begin(), last.end(), '\n'));
    return fmt::format("[{} lines, {} bytes left out]\n{}", lines_ - lines, total_ - last.size(), last);
}

WorkerProcess::WorkerProcess(const Options& options, const std::string& executable, int device_socket,
                             const std::string& sandbox) {
    auto [call, call_theirs] = socket_pair(SOCK_SEQPACKET);
    auto [output, output_theirs] = make_pipe();
    std::vector<std::pair<int, int>> descriptors{
        {1, output_theirs.get()}, {2, output_theirs.get()}, {call_fd, call_theirs.get()}};
    if (device_socket >= 0) descriptors.emplace_back(device_fd, device_socket);
    process_ = SandboxedProcess(sandbox, command_line(options, executable, device_socket >= 0), {path_in_sandbox},
                                descriptors);
    call_ = std::move(call);
    output_pipe_ = std::move(output);
    fcntl(output_pipe_.get(), F_SETFL, O_NONBLOCK);
    // This closes our copies of the worker's ends, so that the connection ends with the worker.
}

bool WorkerProcess::send(const wire::Call& call, int arena) {
    // The worker reads one call at a time, so only a misbehaving worker's socket is full.
    return device::send_message(call_.get(), std::as_bytes(std::span(&call, 1)), std::span(&arena, 1), MSG_DONTWAIT) ==
           static_cast<ssize_t>(sizeof call);
}

WorkerProcess::Event WorkerProcess::receive(wire::Reply& reply, Clock::time_point deadline) {
    for (;;) {
        pollfd entries[] = {{call_.get(), POLLIN, 0}, {output_pipe_.get(), POLLIN, 0}};
        const int ready = poll(entries, 2, milliseconds_until(deadline));
        if (ready < 0) throw InfrastructureError(std::string("poll: ") + std::strerror(errno));
        if (ready > 0 && entries[1].revents) read_output();
        if (ready > 0 && entries[0].revents) {
            // recv() drops descriptors that a hostile worker attaches.
            const ssize_t got = recv(call_.get(), &reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
            if (got < 0 && errno == EAGAIN) continue;
            read_output();
            if (got <= 0) return Event::gone;
            return got == static_cast<ssize_t>(sizeof reply) && reply.magic == wire::reply_magic ? Event::reply
                                                                                                 : Event::malformed;
        }
        if (Clock::now() >= deadline) return Event::timed_out;
    }
}

WorkerProcess::Event WorkerProcess::receive(wire::Reply& reply, TimeLimit& limit, const DeviceServer* device) {
    for (;;) {
        const auto event = receive(reply, limit.deadline());
        if (event != Event::timed_out) return event;
        if (limit.is_over(process_.processor_seconds() + (device ? device->processor_seconds() : 0))) return event;
    }
}

// Reads at most what a pipe holds, so that a flood cannot keep the judge busy.
void WorkerProcess::read_output() {
    if (!output_pipe_) return;
    char buffer[1 << 16];
    for (int i = 0; i < 2; ++i) {
        const ssize_t got = read(output_pipe_.get(), buffer, sizeof buffer);
        if (got > 0) output_.append(buffer, static_cast<std::size_t>(got));
        if (got == 0) output_pipe_.reset();  // poll ignores negative descriptors
        if (got <= 0) return;
    }
}

std::vector<std::uint64_t> WorkerProcess::stop(Clock::time_point deadline) {
    if (!process_.signal(SIGXCPU)) return {};
    wire::Reply reply;
    if (receive(reply, deadline) != Event::reply || reply.status != wire::Status::crashed || reply.signal != SIGXCPU)
        return {};
    const auto end = std::find(std::begin(reply.code), std::end(reply.code), 0);
    return {std::begin(reply.code), end};
}

int WorkerProcess::exit_code() {
    const auto status = process_.wait(Clock::now() + std::chrono::seconds(2));
    if (!status) process_.kill();
    read_output();
    if (!status) return -1;
    return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
}

void WorkerProcess::end(Clock::time_point deadline) {
    call_.reset();
    if (!process_.wait(deadline)) process_.kill();
    read_output();
}

}  // namespace warpgrade::judge
