#include "vgpu/exec/builtins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/address_space.hpp"
#include "device/analysis.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/state/launch.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace error = device::error;

// As many launches may be pending as no program that runs on a real device has.
constexpr std::size_t max_children = 65536;

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

void free_object(const Warp& w, std::uint64_t address) {
    w.executor->launch->limits.heap->free(address, [&](const Allocation& a) {
        for (MemorySite& s : w.executor->memory)
            if (s.allocation == &a) s.allocation = nullptr;
    });
}

void builtin_free(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    for_active(mask, [&](unsigned lane) {
        const auto address = argument<std::uint64_t>(w, site, 0, lane);
        if (address == 0) return;
        try {
            free_object(w, address);
        } catch (const device::DeviceError& e) {
            raise_at(w, &in, e.code, lane, e.what());
        }
    });
}

// The kernel of a function's address (LoadedModule gives them).
const ptx::Function* kernel_at(const ptx::Module& module, std::uint64_t address) {
    std::uint64_t at = device::address_space::code_base;
    for (const ptx::Function& f : module.functions) {
        at += 16;
        if (at == address && f.is_entry) return &f;
    }
    return nullptr;
}

void builtin_parameter_buffer(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask) {
    Launch& launch = *w.executor->launch;
    for_active(mask, [&](unsigned lane) {
        struct Size {
            std::uint32_t x, y, z;
        };
        const auto size = [&](std::size_t index) {
            const auto words = argument<Size>(w, site, index, lane);
            return device::Dim3{words.x, words.y, words.z};
        };
        const auto address = argument<std::uint64_t>(w, site, 0, lane);
        ChildLaunch child;
        child.kernel = kernel_at(launch.module, address);
        if (child.kernel == nullptr)
            raise_at(w, &in, error::invalid_device_function, lane,
                     fmt::format("launches {:#x}, which is no kernel", address));
        std::uint32_t bytes = 0;
        parameter_offsets(child.kernel->parameters, &bytes);
        child.config.grid = size(1), child.config.block = size(2);
        child.config.dynamic_shared_bytes = argument<std::uint32_t>(w, site, 3, lane);
        child.config.stream = launch.config.stream;
        child.params.resize(bytes);
        const bool has_room = launch.children.size() + launch.unlaunched.size() < max_children;
        const std::uint64_t buffer = has_room ? launch.limits.heap->allocate(std::max(bytes, 1u)) : 0;
        if (buffer == 0)
            launch.device_error = has_room ? error::memory_allocation : error::launch_pending_count_exceeded;
        else
            launch.unlaunched[buffer] = std::move(child);
        set_result(w, site, lane, buffer);
    });
}

void builtin_launch_device(Warp& w, const Insn&, const CallSite& site, std::uint32_t mask) {
    Launch& launch = *w.executor->launch;
    for_active(mask, [&](unsigned lane) {
        const auto buffer = argument<std::uint64_t>(w, site, 0, lane);
        const Allocation* arguments = w.executor->global->find(buffer);
        auto child = launch.unlaunched.extract(buffer);
        // The kernel may have freed the buffer. (Addresses of the heap are not used again.)
        if (child.empty() || arguments == nullptr) {
            launch.device_error = error::invalid_value;
            return set_result(w, site, lane, launch.device_error);
        }
        std::copy_n(arguments->at(buffer), child.mapped().params.size(), child.mapped().params.begin());
        free_object(w, buffer);
        launch.children.push_back(std::move(child.mapped()));
        set_result(w, site, lane, 0u);
    });
}

void builtin_error(Warp& w, const CallSite& site, std::uint32_t mask, bool resets) {
    std::uint32_t& last = w.executor->launch->device_error;
    for_active(mask, [&](unsigned lane) {
        set_result(w, site, lane, last);
        if (resets) last = 0;
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
        case Builtin::ParameterBuffer:
            return builtin_parameter_buffer(w, in, site, mask);
        case Builtin::LaunchDevice:
            return builtin_launch_device(w, in, site, mask);
        case Builtin::LastError:
        case Builtin::PeekError:
            return builtin_error(w, site, mask, *site.builtin == Builtin::LastError);
    }
}

}  // namespace warpgrade::vgpu
