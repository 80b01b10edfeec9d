// A spawner, with the test as its judge.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <string>

#include "sandbox/inside.hpp"
#include "sandbox/spawn_wire.hpp"

namespace spawn = warpgrade::sandbox::spawn;

class Spawner {
  public:
    // `prefix` is the command that runs the sandbox, `probe` what its command is asked, or another command's path.
    explicit Spawner(const std::string& options, const std::string& probe, const std::string& prefix = "") {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        const timeval patience{60, 0};
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        socket_ = ends[0];
        theirs_ = fcntl(ends[1], F_DUPFD, 50);
        close(ends[1]);
        run_.emplace(prefix + WG_SANDBOX " " + options + " --spawner-fd " + std::to_string(theirs_) +
                     " --file " WG_INSIDE " /probe -- " + (probe[0] == '/' ? "" : "/probe ") + probe);
        close(theirs_);
    }
    ~Spawner() { hang_up(); }
    void hang_up() { close(std::exchange(socket_, -1)); }
    void stop_listening() { shutdown(socket_, SHUT_RD); }
    [[nodiscard]] int theirs() const { return theirs_; }  // the number of its socket
    // What a command writes.
    std::string output_of(std::uint32_t id) {
        const int file = memfd_create("output", MFD_CLOEXEC);
        ask(id, {1}, {file});
        CHECK(end_of(id).value == 0);
        std::string text(4096, '\0');
        text.resize(static_cast<std::size_t>(pread(file, text.data(), text.size(), 0)));
        close(file);
        return text;
    }
    // The spawner's exit status, when it has ended by itself.
    int end() {
        int status = -1;
        REQUIRE(happens([&] { return waitpid(pid(), &status, WNOHANG) == pid(); }));
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void ask(std::uint32_t id, const std::vector<int>& numbers = {}, const std::vector<int>& descriptors = {}) {
        spawn::Request request;
        request.id = id, request.count = static_cast<std::uint32_t>(numbers.size());
        std::ranges::copy(numbers, request.numbers);
        REQUIRE(spawn::send(socket_, request, descriptors));
    }
    // The next report and its number of descriptors; none if the spawner has ended.
    std::optional<spawn::Report> hear() {
        spawn::Report report;
        spawn::Attached attached;
        if (!spawn::receive(socket_, report, attached)) return std::nullopt;
        came_ = attached.descriptors.size();
        for (const int fd : attached.descriptors) close(fd);
        return report;
    }
    // Checks a command's reports and returns the last one.
    spawn::Report end_of(std::uint32_t id) {
        for (std::size_t seen = 0;; ++seen) {
            const auto report = hear();
            REQUIRE(report);
            CHECK(report->id == id);
            CHECK(came_ == (report->kind == spawn::Kind::forked ? 1 : 0));
            if (report->kind == spawn::Kind::ended || report->kind == spawn::Kind::failed) return *report;
            CHECK((report->kind == spawn::Kind::forked || report->kind == spawn::Kind::ready));
            CHECK((report->value == 0 && report->cpu_ms == 0 && report->step[0] == 0));
            REQUIRE(seen < 2);
        }
    }
    [[nodiscard]] pid_t pid() const { return run_->pid(); }

  private:
    int socket_ = -1, theirs_ = -1;
    std::size_t came_ = 0;
    std::optional<Background> run_;
};
