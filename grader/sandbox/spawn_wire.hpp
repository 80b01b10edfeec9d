// What the judge and a spawner say to each other, over a SOCK_SEQPACKET socket whose other end the judge has. A spawner
// is the first process of a sandbox that is set up once; it starts the sandbox's command anew for each request, and
// no process that it starts keeps the socket.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "device/descriptor_passing.hpp"

namespace warpgrade::sandbox::spawn {

inline constexpr std::size_t max_descriptors = device::max_passed_descriptors;  // with one message

// Judge to spawner, with `count` descriptors: the command has them at these numbers, and no others but 0, 1 and 2.
struct Request {
    std::uint32_t id = 0, count = 0;
    std::int32_t numbers[max_descriptors] = {};
};

enum class Kind : std::uint32_t {
    forked,  // from the spawner, with a descriptor of the process
    ready,   // from the process itself, which runs the command next: its pid comes with the message's credentials
    failed,  // from the process itself: it cannot; value: errno, step: at what
    ended,   // from the spawner; value: wait status
};

// Spawner to judge.
struct Report {
    std::uint32_t id = 0;
    Kind kind = Kind::forked;
    std::int32_t value = 0;
    char step[16] = {};
    std::uint32_t cpu_ms = 0;  // with `ended`: processor time of the process and of all that it started
};

template <class Message>
bool send(int socket, const Message& message, std::span<const int> descriptors = {}) {
    static_assert(std::is_trivially_copyable_v<Message>);
    return device::send_with(socket, std::as_bytes(std::span(&message, 1)), descriptors) ==
           static_cast<ssize_t>(sizeof message);
}

// What came with a message. `sender` is known where the socket has SO_PASSCRED.
struct Attached {
    std::vector<int> descriptors;
    pid_t sender = 0;
};

// False when the other end is gone, or what came is no such message.
template <class Message>
bool receive(int socket, Message& message, Attached& attached) {
    static_assert(std::is_trivially_copyable_v<Message>);
    attached = {};
    const auto take = [&](device::Descriptor&& each) { attached.descriptors.push_back(each.release()); };
    ssize_t got = 0;
    do
        got = device::receive_each(socket, std::as_writable_bytes(std::span(&message, 1)), max_descriptors, take, 0,
                                   &attached.sender);
    while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof message);
}

}  // namespace warpgrade::sandbox::spawn
