#include "cudart/client/program_end.hpp"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "cudart/client/call_site.hpp"
#include "cudart/client/connection.hpp"

extern "C" void warpgrade_tell_host_fault(const void* address, const void* context) {
    using namespace warpgrade::cudart;
    constexpr unsigned long write_bit = 2;  // of the page fault's error code
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    // A place is one that a call returns to, whose line is that of the byte before it.
    const std::uint64_t place = code_of(static_cast<std::uint64_t>(registers[REG_RIP]));
    Connection::get().tell_host_fault(reinterpret_cast<std::uintptr_t>(address),
                                      (static_cast<unsigned long>(registers[REG_ERR]) & write_bit) != 0,
                                      place == 0 ? 0 : place + 1);
}

extern "C" void warpgrade_leave() { warpgrade::cudart::Connection::get().leave(); }

namespace warpgrade::cudart {
namespace {

// The default action is back when this runs: the instruction faults again, and the program ends as it would have.
void report(int, siginfo_t* info, void* context) { warpgrade_tell_host_fault(info->si_addr, context); }

void at_exit(int status, void*) {
    // A program that gives up leaves its memory behind, which is no mistake.
    if (status == 0) Connection::get().leave();
}

}  // namespace

void watch_program() {
    code_of(0);  // finds the program, which a signal handler must not
    for (const int number : {SIGSEGV, SIGBUS}) {
        struct sigaction present {};
        if (::sigaction(number, nullptr, &present) != 0 || (present.sa_flags & SA_SIGINFO) != 0 ||
            present.sa_handler != SIG_DFL)
            continue;
        struct sigaction action {};
        action.sa_sigaction = report;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
        ::sigaction(number, &action, nullptr);
    }
    ::on_exit(at_exit, nullptr);
}

}  // namespace warpgrade::cudart
