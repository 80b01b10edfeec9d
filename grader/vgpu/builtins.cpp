#include "vgpu/builtins.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "device/address_space.hpp"
#include "device/device.hpp"
#include "vgpu/grid.hpp"
#include "vgpu/lanes.hpp"

namespace warpgrade::vgpu {
namespace {

namespace windows = device::address_space;
constexpr std::size_t max_string = 4096, max_output = 1 << 20;

// One byte at a generic address as the lane sees it.
std::byte read_byte(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address) {
    if (address >= windows::global_base) {
        if (const Allocation* a = w.executor->global->find(address)) return *a->at(address);
    } else if (address >= windows::local_base && address - windows::local_base < w.local_stride) {
        return w.local[std::size_t{lane} * w.local_stride + (address - windows::local_base)];
    } else if (address >= windows::shared_base && address - windows::shared_base < w.block->shared_bytes) {
        return w.block->shared[address - windows::shared_base];
    }
    raise_at(w, &in, device::error::illegal_address,
             fmt::format("printf or assert reads {:#x}: {}", address, w.executor->global->describe(address)), lane);
}

std::string read_string(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address) {
    std::string s;
    while (s.size() < max_string) {
        const auto c = static_cast<char>(read_byte(w, in, lane, address++));
        if (c == 0) break;
        s += c;
    }
    return s;
}

template <class T>
T read_value(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address) {
    std::array<std::byte, sizeof(T)> bytes;
    for (auto& b : bytes) b = read_byte(w, in, lane, address++);
    return std::bit_cast<T>(bytes);
}

// printf's formatting, conversion by conversion; arguments lie in a buffer, each aligned to its size.
std::string format_printf(const Warp& w, const Insn& in, unsigned lane, const std::string& format, std::uint64_t args) {
    std::string out;
    const auto take = [&]<class T>() {
        args = (args + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        const T v = read_value<T>(w, in, lane, args);
        args += sizeof(T);
        return v;
    };
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            out += format[i];
            continue;
        }
        std::string spec = "%";
        while (++i < format.size() && std::string_view("-+ #0123456789.").find(format[i]) != std::string_view::npos)
            if (spec.size() < 16) spec += format[i];
        int longs = 0;
        while (i < format.size() && std::string_view("lhzjt").find(format[i]) != std::string_view::npos) {
            if (format[i] == 'l')
                ++longs;
            else if (format[i] != 'h')
                longs = 2;
            ++i;
        }
        if (i >= format.size()) break;
        const char c = format[i];
        char text[512];
        const auto print = [&](const char* how, auto v) {
            std::snprintf(text, sizeof text, (spec + how).c_str(), v);
            out += text;
        };
        switch (c) {
            case '%':
                out += '%';
                break;
            case 'd':
            case 'i':
                if (longs)
                    print("lld", static_cast<long long>(take.template operator()<std::int64_t>()));
                else
                    print("d", take.template operator()<std::int32_t>());
                break;
            case 'u':
            case 'x':
            case 'X':
            case 'o': {
                const char how[] = {c, 0};
                const std::string long_how = std::string("ll") + c;
                if (longs)
                    print(long_how.c_str(), static_cast<unsigned long long>(take.template operator()<std::uint64_t>()));
                else
                    print(how, take.template operator()<std::uint32_t>());
                break;
            }
            case 'c':
                print("c", static_cast<int>(take.template operator()<std::int32_t>()));
                break;
            case 'f':
            case 'F':
            case 'e':
            case 'E':
            case 'g':
            case 'G':
            case 'a':
            case 'A': {
                const char how[] = {c, 0};
                print(how, take.template operator()<double>());
                break;
            }
            case 'p':
                out += fmt::format("{:#x}", take.template operator()<std::uint64_t>());
                break;
            case 's':
                out += read_string(w, in, lane, take.template operator()<std::uint64_t>());
                break;
            default:
                out += spec + c;
        }
    }
    return out;
}

// The value of argument `index` of the call for a lane.
template <class T>
T argument(const Warp& w, const CallSite& site, std::size_t index, unsigned lane) {
    T v{};
    if (index >= site.arguments.size() || site.arguments[index].bytes < sizeof(T)) return v;
    const ParameterSlot& a = site.arguments[index];
    std::memcpy(&v, operand<std::byte>(w, a.storage) + std::size_t{lane} * a.stride, sizeof v);
    return v;
}

void builtin_vprintf(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    std::string& output = w.executor->grid->output;
    for_active(mask, [&](unsigned lane) {
        const auto format = read_string(w, in, lane, argument<std::uint64_t>(w, site, 0, lane));
        const auto text = format_printf(w, in, lane, format, argument<std::uint64_t>(w, site, 1, lane));
        if (output.size() + text.size() <= max_output) output += text;
        if (!site.results.empty()) {
            const auto written = static_cast<std::int32_t>(text.size());
            const ParameterSlot& r = site.results[0];
            std::memcpy(operand<std::byte>(w, r.storage) + std::size_t{lane} * r.stride, &written, sizeof written);
        }
    });
}

void builtin_assertfail(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto text = [&](std::size_t i) {
        return read_string(w, in, lane, argument<std::uint64_t>(w, site, i, lane));
    };
    raise_at(w, &in, device::error::assert_failed,
             fmt::format("{}:{}: {}: assertion `{}' failed", text(1), argument<std::uint32_t>(w, site, 2, lane),
                         text(3), text(0)),
             lane);
}

struct Builtin {
    std::string_view name;
    void (*run)(Warp&, const Insn&, const CallSite&, std::uint32_t);
};
constexpr Builtin builtins[] = {{"vprintf", builtin_vprintf}, {"__assertfail", builtin_assertfail}};

}  // namespace

int find_builtin(std::string_view name) {
    for (std::size_t i = 0; i < std::size(builtins); ++i)
        if (builtins[i].name == name) return static_cast<int>(i);
    return -1;
}

void call_builtin(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    builtins[site.builtin].run(w, in, site, mask);
}

}  // namespace warpgrade::vgpu
