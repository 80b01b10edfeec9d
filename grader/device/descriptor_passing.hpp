// Messages on a Unix socket with file descriptors (SCM_RIGHTS), which travel with the first byte. This header needs the
// C library only, because it is also linked into students' programs and the spawner.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "device/descriptor.hpp"

namespace warpgrade::device {

inline constexpr std::size_t max_passed_descriptors = 8;  // with one message

// Sends what fits, and the descriptors if there are any; returns what sendmsg() returns.
inline ssize_t send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors,
                            int flags = 0) {
    if (descriptors.size() > max_passed_descriptors) return errno = EINVAL, -1;
    iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(max_passed_descriptors * sizeof(int))] = {};
    if (!descriptors.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    return ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

// Receives bytes, and calls take(Descriptor) for up to `most` descriptors that come with them; further ones are closed.
// `sender`, if not null, becomes the sending process (the socket needs SO_PASSCRED). Returns what recvmsg() returns.
template <class Take>
ssize_t receive_descriptors(int socket, std::span<std::byte> bytes, std::size_t most, Take take, int flags = 0,
                            pid_t* sender = nullptr) {
    iovec data{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    most = std::min(most, max_passed_descriptors);
    alignas(cmsghdr) char control[CMSG_SPACE(max_passed_descriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
    message.msg_control = control;
    message.msg_controllen =
        sender ? CMSG_SPACE(most * sizeof(int)) + CMSG_SPACE(sizeof(ucred)) : CMSG_LEN(most * sizeof(int));
    const ssize_t got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    for (cmsghdr* part = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr; part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET) continue;
        if (part->cmsg_type == SCM_CREDENTIALS && sender) {
            ucred credentials{};
            std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
            *sender = credentials.pid;
        } else if (part->cmsg_type == SCM_RIGHTS) {
            const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t i = 0; i < count; ++i) {
                int number = -1;
                std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
                Descriptor descriptor(number);
                if (i < most) take(std::move(descriptor));
            }
        }
    }
    return got;
}

// The same; the received descriptors replace the first of those given.
inline ssize_t receive_message(int socket, std::span<std::byte> bytes, std::span<Descriptor> descriptors,
                               int flags = 0) {
    std::size_t next = 0;
    const auto take = [&](Descriptor&& each) { descriptors[next++] = std::move(each); };
    return receive_descriptors(socket, bytes, descriptors.size(), take, flags);
}

}  // namespace warpgrade::device
