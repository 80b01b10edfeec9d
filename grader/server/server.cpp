#include "server/server.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "device/descriptor_passing.hpp"
#include "device/origin_request.hpp"
#include "device/records.hpp"
#include "server/call_trace.hpp"
#include "server/origin_check.hpp"

namespace warpgrade::device {
namespace {

constexpr std::size_t max_control_line = 1 << 16;

bool again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Server::Server(Device& device, int client_fd, int control_fd, ServerOptions options)
    : device_(device),
      options_(options),
      timeline_(HostCosts::of(device.properties())),
      origin_(device),
      client_fd_(client_fd),
      control_fd_(control_fd) {
    session_.emplace(device_, timeline_, journal_, origin_, options_.order_streams);
}

Server::~Server() {
    if (client_fd_ >= 0) ::close(client_fd_);
    ::close(control_fd_);
}

void Server::run() {
    while (!shutdown_) {
        pollfd sockets[2] = {{control_fd_, POLLIN, 0}, {client_fd_, POLLIN, 0}};
        const bool sending = session_ && !session_->output().empty();
        if (sending) sockets[1].events = POLLOUT;
        const bool listening = client_fd_ >= 0 && !(options_.wait_for_take && journal_.full());
        // What is here already is not waited for; the judge is asked all the same.
        const bool waiting = listening && !sending && input_.ready();
        if (::poll(sockets, listening && !waiting ? 2 : 1, waiting ? 0 : -1) < 0) {
            if (errno == EINTR) continue;
            throw std::system_error(errno, std::generic_category(), "poll");
        }
        if (sockets[0].revents != 0 && !serve_control()) return;
        if (waiting || (listening && sockets[1].revents != 0)) serve_client();
    }
}

// One round: what can be sent, else one frame, or a few that are little work. Then the judge has its turn.
void Server::serve_client() {
    try {
        if (!session_->output().empty()) {
            send_client();
            return;
        }
        if (!receive_client()) return;
        // Whoever does not wait for the reply to one of these gets it together with the next.
        wire::Op op = wire::Op::hello;
        do {
            const wire::Header header = input_.header();
            op = header.op;
            session_->handle(header, input_.payload());
            input_.next();
        } while (wire::may_be_posted(op) && input_.ready());
        send_client();
    } catch (const wire::ProtocolError& failure) {
        close_client(
            fmt::format("the program broke the device protocol ({}): its connection was closed", failure.what()));
    } catch (const std::exception& failure) {
        journal_.add_internal_error(fmt::format("device server: {}", failure.what()));
        close_client("the device server failed");
    }
}

// Reads what is there of the next frame; true when it is complete, or cannot become a frame.
bool Server::receive_client() {
    while (!input_.ready()) {
        const auto room = input_.room();
        const ssize_t got = ::recv(client_fd_, room.data(), room.size(), MSG_DONTWAIT);
        if (got == 0) return close_client(""), false;
        if (got < 0) {
            if (!again(errno)) close_client("");
            return false;
        }
        input_.added(static_cast<std::size_t>(got));
    }
    return true;
}

bool Server::send_client() {
    auto& output = session_->output();
    while (!output.empty()) {
        const int file = session_->attachment().get();
        const ssize_t put = send_with(client_fd_, std::span(output).subspan(sent_),
                                      std::span(&file, session_->attachment() ? 1 : 0), MSG_DONTWAIT);
        if (put < 0) {
            if (!again(errno)) close_client("");
            return false;
        }
        sent_ += static_cast<std::size_t>(put);
        session_->attachment().reset();
        if (sent_ < output.size()) continue;
        output.clear();
        sent_ = 0;
        session_->refill();
    }
    return true;
}

// The journal stays for the judge. The context's memory goes with the process.
void Server::close_client(const std::string& reason) {
    if (!reason.empty()) journal_.add_error("protocol", error::unknown, reason);
    session_->finish();
    ::close(client_fd_);
    client_fd_ = -1;
}

// The program may have ended just before the judge asks: what it left undone belongs in the answer.
void Server::notice_end() {
    char byte;
    if (client_fd_ >= 0 && !input_.ready() && ::recv(client_fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        close_client("");
}

bool Server::serve_control() {
    char buffer[4096];
    const ssize_t got =
        receive_with(control_fd_, std::as_writable_bytes(std::span(buffer)), control_files_, MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) return again(errno);
    control_input_.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = control_input_.find('\n')) != std::string::npos;) {
        const std::string line = control_input_.substr(0, end);
        control_input_.erase(0, end + 1);
        send_control(answer(line));
    }
    return control_input_.size() <= max_control_line;
}

std::string Server::answer(const std::string& line) {
    using nlohmann::json;
    const auto as_line = [](const json& reply) { return dump_line(reply) + '\n'; };
    const auto request = json::parse(line, nullptr, false);
    const auto operation = request.is_object() ? request.find("op") : request.end();
    if (!request.is_object() || operation == request.end() || !operation->is_string())
        return as_line({{"ok", false}, {"error", "expected an object with \"op\""}});
    if (*operation == "hello") return as_line({{"ok", true}, {"properties", to_json(device_.properties())}});
    if (*operation == "take") return take(request);
    if (*operation == "shutdown") {
        shutdown_ = true;
        return as_line({{"ok", true}});
    }
    return as_line({{"ok", false}, {"error", fmt::format("unknown op: {}", operation->get<std::string>())}});
}

std::string Server::take(const nlohmann::json& request) {
    using nlohmann::json;
    const auto wants = [&](const char* what, bool otherwise) {
        const auto found = request.find(what);
        return found != request.end() && found->is_boolean() ? found->get<bool>() : otherwise;
    };
    // Who looks at a program in the middle of its work must not change its clock.
    const bool finish = wants("finish", true);
    if (finish) notice_end();
    if (finish && client_fd_ >= 0) session_->end_call();
    Report report = journal_.take(finish ? timeline_.finish() : 0);
    report.transfers = timeline_.take_transfers();
    report.waits_ns = timeline_.take_waits();
    if (session_->migrations().gave_up()) report.truncated.insert("migrations");
    if (timeline_.take_missed_transfers()) report.truncated.insert("transfers");
    if (timeline_.take_missed_waits()) report.truncated.insert("waits");
    report.connected = client_fd_ >= 0;
    const auto files = std::exchange(control_files_, {});
    if (const auto question = request.find("origin"); question != request.end() && origin_.enabled()) {
        origin_.waited();
        try {
            report.origin = check_origin(
                OriginRequest(*question, files[0], files[1], files[2], !origin_.images().empty()).query(), origin_);
        } catch (const std::exception& failure) {
            report.internal_error = fmt::format("device server: origin of outputs: {}", failure.what());
        }
    }
    if (wants("trace", false)) write_trace(trace_of(origin_), files[0].get());
    if (finish) origin_.begin_call();
    if (!wants("lines", true))
        for (LaunchRecord& launch : report.launches) launch.lines.clear();
    if (wants("packed", false)) {
        const std::string bytes = packed(report);
        return fmt::format("{{\"ok\":true,\"packed\":{}}}\n", bytes.size()) + bytes;
    }
    json reply = to_json(report);
    reply["migrations"] = session_->migrations().take();
    return dump_line(reply) + '\n';
}

void Server::send_control(std::string_view answer) {
    while (!answer.empty()) {
        const ssize_t put = ::send(control_fd_, answer.data(), answer.size(), MSG_NOSIGNAL);
        if (put < 0) {
            if (errno == EINTR) continue;
            if (again(errno)) {  // the judge's end of the socket pair may have made it non-blocking
                pollfd writable{control_fd_, POLLOUT, 0};
                ::poll(&writable, 1, -1);
                continue;
            }
            throw std::system_error(errno, std::generic_category(), "control socket");
        }
        answer.remove_prefix(static_cast<std::size_t>(put));
    }
}

}  // namespace warpgrade::device
