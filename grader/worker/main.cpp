// main() of every worker: waits for calls, executes them, replies.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "worker/crash.hpp"
#include "worker/invoke.hpp"

// Of the program's CUDA runtime, if it has one: tells the device that the program ends in good order.
extern "C" __attribute__((weak)) void warpgrade_leave();

namespace {

using namespace warpgrade;

// Receives one call and the descriptor of its arena. False when the judge is gone or speaks another language.
bool receive(int socket, wire::Call& call, int& arena) {
    iovec data{&call, sizeof call};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof call)) return false;
    arena = -1;
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
        header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        std::memcpy(&arena, CMSG_DATA(header), sizeof arena);
    call.function[sizeof call.function - 1] = '\0';
    return call.magic == wire::call_magic && call.argument_count <= wire::max_arguments;
}

bool reply_to(int socket, const wire::Reply& reply) {
    return send(socket, &reply, sizeof reply, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
}

}  // namespace

int main() {
    const int socket = worker::call_in_progress.socket;
    if (socket < 0) {
        std::fputs("This program is called by Warpgrade's judge: run `warpgrade check` or `warpgrade grade`.\n",
                   stderr);
        return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what was printed before a crash is not lost
    wire::Reply ready;
    ready.status = wire::Status::ready;
    if (!reply_to(socket, ready)) return 1;
    wire::Call call;
    for (int arena; receive(socket, call, arena);) {
        const auto reply = worker::invoke(warpgrade_bindings, call, arena, socket);
        if (arena >= 0) close(arena);
        if (!reply_to(socket, reply)) return 1;
    }
    if (warpgrade_leave != nullptr) warpgrade_leave();
    // The judge has what it wanted. Destructors of the student's globals may hang or crash; nobody waits for them.
    _exit(0);
}
