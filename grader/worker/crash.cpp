#include "worker/crash.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "device/program_code.hpp"

// From the program's CUDA runtime, if it has one. Reports the fault to the device server, which explains it.
extern "C" __attribute__((weak)) void warpgrade_tell_host_fault(const void* address, const void* context);
// From the runtime too. Returns true if the runtime itself had protected the page; then the program continues.
extern "C" __attribute__((weak)) bool warpgrade_open_page(const siginfo_t* info, const void* context);

namespace warpgrade::worker {

CallInProgress call_in_progress;

namespace {

std::uint64_t stack_top = 0, stack_bytes = 0;

bool is_below_the_stack(std::uint64_t address) {
    constexpr std::uint64_t slack = 1u << 20;
    return address < stack_top && stack_top - address >= stack_bytes - slack &&
           stack_top - address < stack_bytes + slack;
}

device::ProgramCode code;

// Records the current instruction and every word on the stack that may be a return address. The grader uses the first
// one that is in a line of the student's code; words that are no return addresses are rarely in one.
void record_stack(const ucontext_t* context, wire::Reply& reply) {
    std::size_t count = 0;
    const auto record = [&](std::uint64_t address) {
        if (code.contains(address) && count < wire::Reply::max_codes) reply.code[count++] = code.file_offset(address);
    };
    record(static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RIP]) + 1);  // as the return address of a call
    auto at = static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RSP]) & ~std::uint64_t{7};
    constexpr std::uint64_t searched = 64 << 10;
    if (at > stack_top || stack_top - at > stack_bytes) return;  // another thread's stack
    for (const std::uint64_t end = std::min(stack_top, at + searched); at < end; at += sizeof at)
        record(*reinterpret_cast<const std::uint64_t*>(at));
}

}  // namespace
}  // namespace warpgrade::worker

// A named function, so that the runtime can find out whether this handler is installed.
extern "C" void warpgrade_report_crash(int signal_number, siginfo_t* info, void* context) {
    using namespace warpgrade;
    using namespace warpgrade::worker;
    if (warpgrade_open_page != nullptr && warpgrade_open_page(info, context)) return;
    static wire::Reply reply;  // the alternate stack is small
    reply.sequence = call_in_progress.sequence;
    reply.status = wire::Status::crashed;
    reply.signal = static_cast<std::uint32_t>(signal_number);
    if (signal_number == SIGSEGV || signal_number == SIGBUS) {
        reply.address = reinterpret_cast<std::uint64_t>(info->si_addr);
        reply.stack_overflow = is_below_the_stack(reply.address);
        if (warpgrade_tell_host_fault != nullptr) warpgrade_tell_host_fault(info->si_addr, context);
        for (std::uint32_t i = 0; i < call_in_progress.buffer_count; ++i) {
            if (const auto distance = call_in_progress.buffers[i].distance_past_end(reply.address)) {
                reply.argument = i;
                reply.distance = *distance;
            }
        }
    }
    if (signal_number == SIGXCPU) record_stack(static_cast<const ucontext_t*>(context), reply);
    if (call_in_progress.socket >= 0) {
        [[maybe_unused]] const auto sent =
            send(call_in_progress.socket, &reply, sizeof reply, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    // Process 1 of a namespace survives the default action of some signals.
    _exit(128 + signal_number);
}

namespace warpgrade::worker {
namespace {

// Runs before the constructors of the student's globals, which may crash too.
__attribute__((constructor(101))) void install() {
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    stack_top = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    stack_bytes = limit.rlim_cur == RLIM_INFINITY ? (8u << 20) : limit.rlim_cur;
    constexpr std::size_t alternate_bytes = 64 << 10;
    stack_t alternate{};
    alternate.ss_sp = mmap(nullptr, alternate_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    alternate.ss_size = alternate_bytes;
    if (alternate.ss_sp != MAP_FAILED) sigaltstack(&alternate, nullptr);
    struct sigaction action {};
    action.sa_sigaction = warpgrade_report_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ})
        sigaction(number, &action, nullptr);
    code = device::ProgramCode::locate();
    if (const char* socket = std::getenv("WARPGRADE_CALL_FD")) call_in_progress.socket = std::atoi(socket);
}

}  // namespace
}  // namespace warpgrade::worker
