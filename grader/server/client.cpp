#include "server/client.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <span>

#include "device/descriptor_passing.hpp"

namespace warpgrade::server {
Client::Client(Device& device, int fd, bool order_streams, bool wait_for_take)
    : wait_for_take_(wait_for_take),
      device_(device),
      origin_(device),
      session_(device, journal_, origin_, order_streams),
      fd_(fd) {}

Client::~Client() {
    if (connected()) ::close(fd_);
}

short Client::events() const {
    if (!connected() || (wait_for_take_ && journal_.full())) return 0;
    return session_.output().empty() ? POLLIN : POLLOUT;
}

void Client::serve() {
    try {
        if (!session_.output().empty()) {
            send();
            return;
        }
        if (!receive()) return;
        // A posted request's reply may go out together with the next one.
        wire::Op op = wire::Op::hello;
        do {
            const wire::Header header = input_.header();
            op = header.op;
            session_.handle(header, input_.payload());
            input_.pop();
        } while (wire::is_postable(op) && input_.has_frame());
        send();
    } catch (const wire::ProtocolError& failure) {
        close(fmt::format("the program broke the device protocol ({}): its connection was closed", failure.what()));
    } catch (const std::exception& failure) {
        journal_.add_internal_error(fmt::format("device server: {}", failure.what()));
        close("the device server failed");
    }
}

bool Client::receive() {
    while (!input_.has_frame()) {
        const auto room = input_.free_space();
        const ssize_t got = ::recv(fd_, room.data(), room.size(), MSG_DONTWAIT);
        if (got == 0) return close(""), false;
        if (got < 0) {
            if (!is_retryable(errno)) close("");
            return false;
        }
        input_.commit(static_cast<std::size_t>(got));
    }
    return true;
}

bool Client::send() {
    auto& output = session_.output();
    while (!output.empty()) {
        const int file = session_.attachment().get();
        const ssize_t put = send_message(fd_, std::span(output).subspan(sent_),
                                         std::span(&file, session_.attachment() ? 1 : 0), MSG_DONTWAIT);
        if (put < 0) {
            if (!is_retryable(errno)) close("");
            return false;
        }
        sent_ += static_cast<std::size_t>(put);
        session_.attachment().reset();
        if (sent_ < output.size()) continue;
        output.clear();
        sent_ = 0;
        session_.refill();
    }
    return true;
}

// Keeps the journal for the judge, and the context's memory until the process ends.
void Client::close(const std::string& reason) {
    if (!reason.empty()) journal_.add_error("protocol", error::unknown, reason);
    session_.finish();
    ::close(fd_);
    fd_ = -1;
}

// Notices a program that ended just before the judge asks, so that the answer includes its leaks.
void Client::end_call() {
    char byte;
    if (connected() && !input_.has_frame() && ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) close("");
    if (connected()) session_.end_call();
}

Report Client::take(bool finish) {
    double clock_ns = 0;
    if (finish) {
        try {
            clock_ns = device_.finish();
        } catch (const DeviceError& fault) {
            session_.note_fault(fault);
        }
        journal_.print(device_.take_output());
    }
    Report report = journal_.take(clock_ns);
    if (finish) report.mean_clock_ghz = device_.mean_clock_ghz();
    const auto times = device_.take_launch_times();
    for (std::size_t i = 0; times.size() == report.launches.size() && i < times.size(); ++i)
        report.launches[i].start_ns = times[i].start_ns, report.launches[i].duration_ns = times[i].duration_ns;
    report.analysed = device_.analysis() != nullptr;
    if (Analysis* analysis = device_.analysis()) {
        auto transfers = analysis->take_transfers();
        auto waits_ns = analysis->take_waits();
        report.transfers = std::move(transfers.items);
        report.waits_ns = std::move(waits_ns.items);
        if (!transfers.complete) report.truncated.insert("transfers");
        if (!waits_ns.complete) report.truncated.insert("waits");
    }
    if (session_.migrations().is_over_limit()) report.truncated.insert("migrations");
    report.connected = connected();
    return report;
}

}  // namespace warpgrade::server
