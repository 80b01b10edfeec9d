#include "cudart/client/program_end.hpp"

#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

#include "cudart/client/call_site.hpp"
#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {
namespace {

constexpr int program_counter = REG_RIP, stack_pointer = REG_RSP;

bool writes(const ucontext_t& context) {
    constexpr unsigned long write_bit = 2;  // of the page fault's error code
    return (static_cast<unsigned long>(context.uc_mcontext.gregs[REG_ERR]) & write_bit) != 0;
}

// The current instruction as a return address: a return address belongs to the line of the byte before it.
std::uint64_t place_of(const ucontext_t& context) {
    const std::uint64_t place = code_of(static_cast<std::uint64_t>(context.uc_mcontext.gregs[program_counter]));
    return place == 0 ? 0 : place + 1;
}

// The current instruction, or the caller if it is in a function of the C library such as memcpy. These use little
// stack, so the first word on it that may be a return address is the right one.
std::uint64_t place_of_user(const ucontext_t& context) {
    if (const std::uint64_t place = place_of(context); place != 0) return place;
    constexpr int most_words = 16;
    const auto* stack = reinterpret_cast<const std::uint64_t*>(context.uc_mcontext.gregs[stack_pointer]);
    for (int i = 0; i < most_words; ++i)
        if (follows_call(stack[i])) return code_of(stack[i]);
    return 0;
}

struct Caller {
    std::uint64_t fault, code = 0;
    bool reached = false;
};

_Unwind_Reason_Code find_caller(_Unwind_Context* frame, void* argument) {
    auto& caller = *static_cast<Caller*>(argument);
    const std::uint64_t here = _Unwind_GetIP(frame);
    if (caller.reached) caller.code = code_of(here);
    caller.reached |= here == caller.fault;
    return caller.code != 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The same for the program's end, where it may take longer and be exact. In a program that is linked statically, free()
// is part of the program.
std::uint64_t place_of_fault(const ucontext_t& context) {
    Caller caller{static_cast<std::uint64_t>(context.uc_mcontext.gregs[program_counter])};
    const std::uint64_t place = place_of(context);
    const bool in_free =
        _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(caller.fault)) == reinterpret_cast<void*>(&::free);
    if (place != 0 && !in_free) return place;
    _Unwind_Backtrace(find_caller, &caller);
    return caller.code;
}

}  // namespace
}  // namespace warpgrade::cudart

extern "C" void warpgrade_tell_host_fault(const void* address, const void* context) {
    using namespace warpgrade::cudart;
    const auto& user = *static_cast<const ucontext_t*>(context);
    // With any other address, the stack itself may be what is wrong.
    const bool has_stack = Connection::get().is_device_address(address);
    Connection::get().tell_host_fault(reinterpret_cast<std::uintptr_t>(address), writes(user),
                                      has_stack ? place_of_fault(user) : place_of(user));
}

extern "C" bool warpgrade_open_page(const siginfo_t* info, const void* context) {
    using namespace warpgrade::cudart;
    if (info->si_signo != SIGSEGV || info->si_code != SEGV_ACCERR) return false;
    const auto& user = *static_cast<const ucontext_t*>(context);
    return Connection::get().open_page(reinterpret_cast<std::uintptr_t>(info->si_addr), writes(user),
                                       place_of_user(user));
}

extern "C" void warpgrade_end_call() { warpgrade::cudart::Connection::get().leave(false); }

extern "C" void warpgrade_leave() { warpgrade::cudart::Connection::get().leave(true); }

// The handler of a worker, which calls warpgrade_open_page.
extern "C" __attribute__((weak)) void warpgrade_report_crash(int, siginfo_t*, void*);

namespace warpgrade::cudart {
namespace {

// Restores the default action, so that the instruction faults again and ends the program.
void report(int number, siginfo_t* info, void* context) {
    if (warpgrade_open_page(info, context)) return;
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(number, &usual, nullptr);
    warpgrade_tell_host_fault(info->si_addr, context);
}

void at_exit(int status, void*) {
    // A program that gives up need not free its memory.
    Connection::get().leave(status == 0);
}

}  // namespace

bool opens_pages() {
    struct sigaction now {};
    if (::sigaction(SIGSEGV, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0) return false;
    return now.sa_sigaction == report ||
           (warpgrade_report_crash != nullptr && now.sa_sigaction == warpgrade_report_crash);
}

bool is_worker() { return warpgrade_report_crash != nullptr; }

void watch_program() {
    code_of(0);  // locates the program now, since a signal handler must not
    for (const int number : {SIGSEGV, SIGBUS}) {
        struct sigaction present {};
        if (::sigaction(number, nullptr, &present) != 0 || (present.sa_flags & SA_SIGINFO) != 0 ||
            present.sa_handler != SIG_DFL)
            continue;
        struct sigaction action {};
        action.sa_sigaction = report;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigaction(number, &action, nullptr);
    }
    ::on_exit(at_exit, nullptr);
}

}  // namespace warpgrade::cudart
