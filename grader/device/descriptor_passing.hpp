// Messages on a Unix socket with file descriptors (SCM_RIGHTS), which travel with the first byte. The worker and the
// runtime, which are linked into students' programs, use it as well: it needs the C library only.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "device/descriptor.hpp"

namespace warpgrade::device {

inline constexpr std::size_t max_passed_descriptors = 2;  // with one message

// Sends what fits, and the descriptors if there are any; returns what sendmsg() returns.
inline ssize_t send_with(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors,
                         int flags = 0) {
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

// Receives what is there; descriptors that come with it replace the first of those given, and the kernel closes those
// for which there is no room. Returns what recvmsg() returns.
inline ssize_t receive_with(int socket, std::span<std::byte> bytes, std::span<Descriptor> descriptors, int flags = 0) {
    iovec data{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(max_passed_descriptors * sizeof(int))] = {};
    message.msg_control = control;
    message.msg_controllen = CMSG_LEN(std::min(descriptors.size(), max_passed_descriptors) * sizeof(int));
    const ssize_t got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    const cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return got;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < std::min(count, descriptors.size()); ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
        descriptors[i] = Descriptor(number);
    }
    return got;
}

}  // namespace warpgrade::device
