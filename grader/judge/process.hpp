// Child processes of the judge, and descriptors for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/descriptor.hpp"

namespace warpgrade::judge {

using Clock = std::chrono::steady_clock;
using device::Descriptor;

// A connected pair of Unix sockets (SOCK_STREAM or SOCK_SEQPACKET), closed on exec.
std::pair<Descriptor, Descriptor> socket_pair(int type);
// {read end, write end}
std::pair<Descriptor, Descriptor> make_pipe();

// A time-out for poll(), at least 0.
int milliseconds_until(Clock::time_point deadline);

class Process {
  public:
    Process() = default;
    // `descriptors`: child's number, ours. The child has only these and 0, 1 and 2. Throws InfrastructureError.
    Process(const std::vector<std::string>& command, const std::vector<std::pair<int, int>>& descriptors);
    Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    Process& operator=(Process&& other) noexcept {
        std::swap(pid_, other.pid_);
        return *this;
    }
    ~Process();  // kills and reaps it

    // The wait status if the process ends by the deadline.
    std::optional<int> wait(Clock::time_point deadline);
    void kill();

  private:
    pid_t pid_ = 0;
};

}  // namespace warpgrade::judge
