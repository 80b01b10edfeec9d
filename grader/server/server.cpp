#include "server/server.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "device/descriptor_passing.hpp"
#include "device/origin_request.hpp"
#include "device/records.hpp"
#include "server/origin_check.hpp"

namespace warpgrade::server {
constexpr std::size_t max_control_line = 1 << 16;

Server::Server(Device& device, int client_fd, int control_fd, ServerOptions options)
    : device_(device), client_(device, client_fd, options.order_streams, options.wait_for_take), control_(control_fd) {}

// The judge does not read the replay's records, so the replay need not wait for a full journal.
void Server::add_replay(Device& device, int fd) { replay_.emplace(device, fd, false, false); }

std::optional<Sockets> Server::run() {
    while (!shutdown_ && !renew_) {
        // If a frame is already buffered, poll only looks at the judge's socket and returns at once.
        Client* const clients[] = {&client_, replay_ ? &*replay_ : nullptr};
        pollfd sockets[3] = {{control_.get(), POLLIN, 0}, {-1, 0, 0}, {-1, 0, 0}};
        bool waiting = false;
        for (std::size_t i = 0; i < std::size(clients); ++i) {
            if (!clients[i] || clients[i]->events() == 0) continue;
            sockets[1 + i] = {clients[i]->fd(), clients[i]->events(), 0};
            waiting |= clients[i]->has_frame();
        }
        if (::poll(sockets, std::size(sockets), waiting ? 0 : -1) < 0) {
            if (errno == EINTR) continue;
            throw std::system_error(errno, std::generic_category(), "poll");
        }
        if (sockets[0].revents != 0 && !serve_control()) return std::nullopt;
        for (std::size_t i = 0; i < std::size(clients); ++i)
            if (clients[i] && (sockets[1 + i].revents != 0 || clients[i]->has_frame())) clients[i]->serve();
    }
    if (shutdown_) return std::nullopt;
    return Sockets{std::move(control_files_[0]), std::move(control_), std::move(control_files_[1])};
}

void Server::confirm_renewal() { send_control("{\"ok\":true}\n"); }

bool Server::serve_control() {
    char buffer[4096];
    const ssize_t got =
        receive_message(control_.get(), std::as_writable_bytes(std::span(buffer)), control_files_, MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) return is_retryable(errno);
    control_input_.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = control_input_.find('\n')) != std::string::npos;) {
        const std::string line = control_input_.substr(0, end);
        control_input_.erase(0, end + 1);
        if (const std::string reply = answer(line); !reply.empty()) send_control(reply);
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
    if (*operation == "end_replay" && replay_) {
        end_replay(request.value("forget", false));
        return as_line({{"ok", true}});
    }
    if (*operation == "order" && device_.analysis()) {
        try {
            device_.analysis()->set_order(parse_order(request.value("order", "")));
        } catch (const std::exception& wrong) {
            return as_line({{"ok", false}, {"error", wrong.what()}});
        }
        return as_line({{"ok", true}});
    }
    if (*operation == "renew" && control_files_[0]) {
        renew_ = true;
        return "";  // the next session confirms
    }
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
    // A take in the middle of a program's work must not change its clock.
    const bool finish = wants("finish", true);
    if (finish) client_.end_call();
    Report report = client_.take(finish);
    const auto files = std::exchange(control_files_, {});
    OriginLog& log = client_.origin();
    if (const auto question = request.find("origin"); question != request.end() && log.enabled()) {
        log.record_wait();
        try {
            const OriginRequest asked(*question, files[0], files[1], !log.images().empty());
            const bool compare = wants("compare", false) && replay_;
            report.origin = check_origin(asked.query(), log, compare ? &replay_->origin() : nullptr);
        } catch (const std::exception& failure) {
            report.internal_error = fmt::format("device server: origin of outputs: {}", failure.what());
        }
    }
    if (finish) {
        log.begin_call();
        if (replay_) replay_->origin().begin_call();
    }
    if (!wants("lines", true))
        for (LaunchRecord& launch : report.launches) launch.lines.clear();
    if (wants("packed", false)) {
        const std::string bytes = pack_report(report);
        return fmt::format("{{\"ok\":true,\"packed\":{}}}\n", bytes.size()) + bytes;
    }
    json reply = to_json(report);
    reply["migrations"] = client_.migrations().take();
    return dump_line(reply) + '\n';
}

// Keeps the replay's log until the next take, unless the judge will not compare it.
void Server::end_replay(bool forget) {
    replay_->end_call();
    replay_->take(true);
    if (forget) replay_->origin().begin_call();
}

void Server::send_control(std::string_view answer) {
    while (!answer.empty()) {
        const ssize_t put = ::send(control_.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        if (put < 0) {
            if (errno == EINTR) continue;
            if (is_retryable(errno)) {  // the judge's end of the socket pair may have made it non-blocking
                pollfd writable{control_.get(), POLLOUT, 0};
                ::poll(&writable, 1, -1);
                continue;
            }
            throw std::system_error(errno, std::generic_category(), "control socket");
        }
        answer.remove_prefix(static_cast<std::size_t>(put));
    }
}

}  // namespace warpgrade::server
