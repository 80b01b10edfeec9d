#include "cudart/client/call_site.hpp"

#include "device/program_code.hpp"

namespace warpgrade::cudart {
namespace {

const device::ProgramCode& program() noexcept {
    static const auto code = device::ProgramCode::locate();
    return code;
}

struct Frame {
    const Frame* caller;
    std::uint64_t return_address;
};

// True for a return to `leave, ret`, possibly after arguments are removed from the stack. The caller then has a frame
// pointer.
bool passes_the_result_on(std::uint64_t return_address) noexcept {
    if (!program().contains(return_address, 6)) return false;
    const auto* code = reinterpret_cast<const std::uint8_t*>(return_address);
    if (code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xC4) code += 4;
    return code[0] == 0xC9 && code[1] == 0xC3;
}

struct State {
    unsigned depth = 0;
    std::uint64_t code = 0;
    bool launches = false;  // a launch configuration was popped for the next call
    std::uint64_t launch_code = 0;
};
thread_local State state;

void enter(std::uint64_t code) noexcept {
    if (state.depth++ == 0) state.code = code;
}

void leave() noexcept {
    if (--state.depth == 0) state.code = 0;
}

}  // namespace

std::uint64_t code_of(std::uint64_t address) noexcept {
    return program().contains(address) ? program().file_offset(address) : 0;
}

bool follows_call(std::uint64_t address) noexcept {
    constexpr std::uint64_t longest = 7;
    if (!program().contains(address) || !program().contains(address - longest)) return false;
    const auto* code = reinterpret_cast<const std::uint8_t*>(address);
    // A call through a register or memory: FF /2, of 2, 3, 6 or 7 bytes.
    const auto indirect = [&](int bytes) { return code[-bytes] == 0xFF && (code[1 - bytes] >> 3 & 7) == 2; };
    return code[-5] == 0xE8 || indirect(2) || indirect(3) || indirect(6) || indirect(7);
}

std::uint64_t return_code(const void* pointer) noexcept {
    constexpr int most_wrappers = 4;
    const auto* frame = static_cast<const Frame*>(pointer);
    for (int i = 0; i < most_wrappers && passes_the_result_on(frame->return_address); ++i) frame = frame->caller;
    return code_of(frame->return_address);
}

CallSite::CallSite(const void* frame) noexcept { enter(state.depth == 0 ? return_code(frame) : 0); }
CallSite::~CallSite() { leave(); }
std::uint64_t CallSite::current() noexcept { return state.code; }

LaunchSite::LaunchSite(const void* frame) noexcept : has_no_result_(state.launches) {
    enter(has_no_result_ ? state.launch_code : return_code(frame));
    state.launches = false;
}
LaunchSite::~LaunchSite() { leave(); }

void LaunchSite::popped(std::uint64_t code) noexcept {
    state.launches = true;
    state.launch_code = code;
}

}  // namespace warpgrade::cudart
