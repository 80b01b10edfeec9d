#include "vgpu/exec/builtins.hpp"

#include <fmt/format.h>

#include <utility>

#include "device/address_space.hpp"
#include "device/analysis.hpp"
#include "vgpu/state/lanes.hpp"
#include "vgpu/state/launch.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace error = device::error;

std::byte read_byte(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address) {
    namespace windows = device::address_space;
    if (const Allocation* a = w.executor->global->find(address)) {
        if (a->holds(address, 1)) return *a->at(address);
    } else if (address >= windows::local_base && address - windows::local_base < w.local_end) {
        return w.local[std::size_t{lane} * w.local_stride + (address - windows::local_base)];
    } else if (const std::uint64_t at = address - windows::shared_base; w.executor->launch->shared.find(at, at, 1)) {
        return w.block->shared[at];
    }
    raise_at(w, &in, error::illegal_address, lane,
             fmt::format("reads an argument of printf or assert at {:#x}, where nothing is allocated", address));
}

std::string read_string(const Warp& w, const Insn& in, unsigned lane, std::uint64_t address) {
    constexpr std::size_t max_string = 4096;
    std::string s;
    while (s.size() < max_string) {
        const auto c = static_cast<char>(read_byte(w, in, lane, address++));
        if (c == 0) break;
        s += c;
    }
    return s;
}

namespace {

// The value of a call's argument number `index` for one lane.
template <class T>
T argument(const Warp& w, const CallSite& site, std::size_t index, unsigned lane) {
    T v{};
    if (index >= site.arguments.size() || site.arguments[index].bytes < sizeof(T)) return v;
    const ParameterSlot& a = site.arguments[index];
    std::memcpy(&v, operand<std::byte>(w, a.storage) + std::size_t{lane} * a.stride, sizeof v);
    return v;
}

template <class T>
void set_result(const Warp& w, const CallSite& site, unsigned lane, T value) {
    if (site.results.empty() || site.results[0].bytes < sizeof(T)) return;
    const ParameterSlot& r = site.results[0];
    std::memcpy(operand<std::byte>(w, r.storage) + std::size_t{lane} * r.stride, &value, sizeof value);
}

void builtin_vprintf(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    for_active(mask, [&](unsigned lane) {
        const auto format = argument<std::uint64_t>(w, site, 0, lane);
        if (format == 0) return set_result(w, site, lane, -1);
        const Printed printed =
            format_printf(w, in, lane, read_string(w, in, lane, format), argument<std::uint64_t>(w, site, 1, lane));
        w.executor->launch->output.add(printed.text);
        set_result(w, site, lane, printed.arguments);
    });
}

void builtin_assertfail(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto text = [&](std::size_t i) {
        return read_string(w, in, lane, argument<std::uint64_t>(w, site, i, lane));
    };
    device::Diagnostic found;
    found.message = fmt::format("fails the assertion `{}`", text(0));
    if (const auto others = std::popcount(mask) - 1)
        found.message += fmt::format("; {} the same", also(static_cast<unsigned>(others)));
    found.place = {text(1), argument<std::uint32_t>(w, site, 2, lane), 0};
    raise_at(w, nullptr, error::assert_failed, lane, std::move(found));
}

void builtin_malloc(Warp& w, const Insn&, const CallSite& site, std::uint32_t mask) {
    for_active(mask, [&](unsigned lane) {
        const auto bytes = argument<std::uint64_t>(w, site, 0, lane);
        set_result(w, site, lane, w.executor->launch->limits.heap->allocate(bytes));
    });
}

void builtin_free(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    for_active(mask, [&](unsigned lane) {
        const auto address = argument<std::uint64_t>(w, site, 0, lane);
        if (address == 0) return;
        try {
            w.executor->launch->limits.heap->free(address, [&](const Allocation& a) {
                for (MemorySite& s : w.executor->memory)
                    if (s.allocation == &a) s.allocation = nullptr;
            });
        } catch (const device::DeviceError& e) {
            raise_at(w, &in, e.code, lane, e.what());
        }
    });
}

}  // namespace

void call_builtin(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    switch (*site.builtin) {
        case Builtin::Printf:
            return builtin_vprintf(w, in, site, mask);
        case Builtin::AssertFail:
            return builtin_assertfail(w, in, site, mask);
        case Builtin::Malloc:
            return builtin_malloc(w, in, site, mask);
        case Builtin::Free:
            return builtin_free(w, in, site, mask);
    }
}

}  // namespace warpgrade::vgpu
