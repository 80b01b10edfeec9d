// What the judge and a spawner say to each other, over a SOCK_SEQPACKET socket whose other end the judge has. A spawner
// is the first process of a sandbox that is set up once; it starts the sandbox's command anew for each request, and
// no process that it starts keeps the socket.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace warpgrade::sandbox::spawn {

inline constexpr std::size_t max_descriptors = 8;  // with one message

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
    char step[20] = {};
};

template <class Message>
bool send(int socket, const Message& message, std::span<const int> descriptors = {}) {
    static_assert(std::is_trivially_copyable_v<Message>);
    iovec data{const_cast<Message*>(&message), sizeof message};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))] = {};
    if (!descriptors.empty()) {
        if (descriptors.size() > max_descriptors) return errno = EINVAL, false;
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    return ::sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
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
    iovec data{&message, sizeof message};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t got = 0;
    do got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    attached = {};
    for (cmsghdr* part = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr; part; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET) continue;
        if (part->cmsg_type == SCM_RIGHTS) {
            attached.descriptors.resize((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            std::memcpy(attached.descriptors.data(), CMSG_DATA(part), attached.descriptors.size() * sizeof(int));
        } else if (part->cmsg_type == SCM_CREDENTIALS) {
            ucred credentials{};
            std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
            attached.sender = credentials.pid;
        }
    }
    return got == static_cast<ssize_t>(sizeof message);
}

}  // namespace warpgrade::sandbox::spawn
