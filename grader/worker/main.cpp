// main() of every worker: waits for calls, executes them, replies.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <span>

#include "device/descriptor_passing.hpp"
#include "worker/crash.hpp"
#include "worker/invoke.hpp"

// From the program's CUDA runtime, if it has one: tells the device server that the program ends normally.
extern "C" __attribute__((weak)) void warpgrade_leave();

namespace {

using namespace warpgrade;

// Receives one call and the descriptor of its arena. Returns false if the connection is closed or the message invalid.
bool receive(int socket, wire::Call& call, device::Descriptor& arena) {
    arena.reset();
    if (device::receive_message(socket, std::as_writable_bytes(std::span(&call, 1)), std::span(&arena, 1)) !=
        static_cast<ssize_t>(sizeof call))
        return false;
    call.function[sizeof call.function - 1] = '\0';
    return call.magic == wire::call_magic && call.argument_count <= wire::max_arguments;
}

bool send_reply(int socket, const wire::Reply& reply) {
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
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // so that a crash loses no whole line
    wire::Reply ready;
    ready.status = wire::Status::ready;
    if (!send_reply(socket, ready)) return 1;
    wire::Call call;
    for (device::Descriptor arena; receive(socket, call, arena);) {
        const auto reply = worker::invoke(warpgrade_bindings, call, arena.get(), socket);
        arena.reset();
        if (!send_reply(socket, reply)) return 1;
    }
    if (warpgrade_leave != nullptr) warpgrade_leave();
    // Skips the destructors of the student's globals, which may hang or crash.
    _exit(0);
}
