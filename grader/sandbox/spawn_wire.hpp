// The protocol between the judge and a spawner, over a SOCK_SEQPACKET socket. A spawner is the first process of a
// prepared sandbox. It starts the sandbox's command once for each request; the command does not get the socket.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "device/descriptor_passing.hpp"

namespace warpgrade::sandbox::spawn {

inline constexpr std::size_t max_descriptors = device::max_passed_descriptors;  // with one message

// Judge to spawner, with `count` descriptors. The command gets them at these numbers, and otherwise only 0, 1 and 2.
struct Request {
    std::uint32_t id = 0, count = 0;
    std::int32_t numbers[max_descriptors] = {};
};

enum class Kind : std::uint32_t {
    forked,  // from the spawner, with a descriptor of the process
    ready,   // from the process, just before it runs the command; its pid is in the message's credentials
    failed,  // from the process, which cannot run the command; value: errno, step: what failed
    ended,   // from the spawner; value: wait status
};

// Spawner to judge.
struct Report {
    std::uint32_t id = 0;
    Kind kind = Kind::forked;
    std::int32_t value = 0;
    char step[16] = {};
    std::uint32_t cpu_ms = 0;  // with `ended`: processor time of the process and its children
};

inline std::uint32_t cpu_ms(const rusage& used) {
    const auto seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
    return static_cast<std::uint32_t>(1000 * seconds + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000);
}

template <class Message>
bool send(int socket, const Message& message, std::span<const int> descriptors = {}) {
    static_assert(std::is_trivially_copyable_v<Message>);
    return device::send_message(socket, std::as_bytes(std::span(&message, 1)), descriptors) ==
           static_cast<ssize_t>(sizeof message);
}

// `sender` is set if the socket has SO_PASSCRED.
struct Attached {
    std::vector<int> descriptors;
    pid_t sender = 0;
};

// Returns false if the other end is closed or the message has the wrong size.
template <class Message>
bool receive(int socket, Message& message, Attached& attached) {
    static_assert(std::is_trivially_copyable_v<Message>);
    const auto take = [&](device::Descriptor&& each) { attached.descriptors.push_back(each.release()); };
    ssize_t got = 0;
    do
        got = device::receive_descriptors(socket, std::as_writable_bytes(std::span(&message, 1)), max_descriptors, take,
                                          0, &attached.sender);
    while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof message);
}

}  // namespace warpgrade::sandbox::spawn
