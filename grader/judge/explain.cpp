#include "judge/explain.hpp"

#include <fmt/format.h>

#include <csignal>

#include "device/address_space.hpp"

namespace warpgrade::judge {
namespace {

const char* signal_text(std::uint32_t number) {
    switch (number) {
        case SIGSEGV:
            return "segmentation fault";
        case SIGBUS:
            return "bus error";
        case SIGFPE:
            return "arithmetic exception, such as an integer division by zero";
        case SIGILL:
            return "illegal instruction";
        case SIGABRT:
            return "abort: an uncaught exception, a failed assert or a corrupted heap";
        case SIGTRAP:
            return "trap";
        case SIGSYS:
            return "forbidden system call";
        case SIGXCPU:
            return "too much processor time";
        case SIGXFSZ:
            return "file too large";
        case SIGKILL:
            return "killed, for example for using too much memory or processor time";
        default:
            return "a signal";
    }
}

// C (an output of matmul, 4096 float)
std::string describe_argument(const CallSpec& spec, std::uint32_t index) {
    if (index >= spec.arguments.size()) return "an argument of " + spec.function;
    const auto& argument = spec.arguments[index];
    const char* kind = argument.kind == wire::Kind::in ? "input" : "output";
    return fmt::format("{} (an {} of {}, {} {})", name_of_argument(spec, index), kind, spec.function, argument.count,
                       wire::name_of(argument.type));
}

std::string where(const wire::Reply& reply, const CallSpec& spec) {
    if (reply.signal != SIGSEGV && reply.signal != SIGBUS) return "";
    if (reply.stack_overflow) return ": the stack overflowed (endless recursion, or a very large local array)";
    if (reply.argument != wire::Reply::no_argument)
        return fmt::format(": host code accessed memory {} bytes past the end of {}", reply.distance,
                           describe_argument(spec, reply.argument));
    if (device::address_space::is_device_address(reply.address))
        return fmt::format(
            ": host code dereferenced the device pointer 0x{:x}; only kernels and cudaMemcpy can use device memory",
            reply.address);
    if (reply.address < 65536) return ": host code dereferenced a null pointer";
    return fmt::format(" at address 0x{:x}", reply.address);
}

}  // namespace

std::string tame(std::string_view text, std::size_t max_bytes) {
    std::string result;
    for (const char c : text.substr(0, max_bytes)) {
        const auto byte = static_cast<unsigned char>(c);
        result += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
    return result;
}

std::string explain(const wire::Reply& reply, const CallSpec& spec) {
    const std::string text = tame({reply.text, std::min<std::size_t>(reply.text_bytes, sizeof reply.text)});
    switch (reply.status) {
        case wire::Status::crashed:
            return fmt::format("your program crashed ({}){}", signal_text(reply.signal), where(reply, spec));
        case wire::Status::threw:
            return fmt::format("{} threw an exception: {}", spec.function, text);
        case wire::Status::wrote_before:
            return fmt::format("your program wrote to memory {} bytes before the start of {}", reply.distance,
                               describe_argument(spec, reply.argument));
        case wire::Status::out_of_memory:
            return fmt::format("your program's memory limit leaves no room for the arguments of {}", spec.function);
        case wire::Status::no_such_function:
            return fmt::format("the program has no function {}", spec.function);
        case wire::Status::bad_arguments:
            return fmt::format("{} cannot be called the way the test calls it: {}", spec.function, text);
        case wire::Status::ready:
        case wire::Status::returned:
            break;
    }
    return "your program wrote to the judge's connection";
}

std::string explain_exit(int exit_code, const CallSpec& spec) {
    if (exit_code > 128)
        return fmt::format("your program crashed ({})", signal_text(static_cast<std::uint32_t>(exit_code - 128)));
    if (exit_code >= 0) return fmt::format("your program called exit({}) inside {}", exit_code, spec.function);
    return fmt::format("your program closed the judge's connection before {} returned", spec.function);
}

}  // namespace warpgrade::judge
