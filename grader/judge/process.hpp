// Descriptors and child processes of the judge.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpgrade::judge {

using Clock = std::chrono::steady_clock;

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { close(); }
    void close();
    [[nodiscard]] int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

// A connected pair of Unix sockets (SOCK_STREAM or SOCK_SEQPACKET), closed in children that are not given them.
std::pair<Descriptor, Descriptor> socket_pair(int type);
// {read end, write end}
std::pair<Descriptor, Descriptor> make_pipe();

// poll's time-out for what is left until the deadline, at least 0.
int milliseconds_until(Clock::time_point deadline);

class Process {
  public:
    Process() = default;
    // Starts `command` with the descriptors at the numbers that `descriptors` names (child's number, ours); all others
    // but 0, 1 and 2 are closed. Throws InfrastructureError.
    Process(const std::vector<std::string>& command, const std::vector<std::pair<int, int>>& descriptors);
    Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    Process& operator=(Process&& other) noexcept {
        std::swap(pid_, other.pid_);
        return *this;
    }
    ~Process();  // kills and reaps it

    // Its wait status if it has ended by the deadline.
    std::optional<int> wait(Clock::time_point deadline);
    void kill();

  private:
    pid_t pid_ = 0;
};

}  // namespace warpgrade::judge
