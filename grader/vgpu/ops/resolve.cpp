#include "vgpu/ops/resolve.hpp"

#include <fmt/format.h>

#include <optional>

#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

using ptx::Space;
namespace rules = device::rules;

namespace {

constexpr std::uint64_t null_page = 65536;      // addresses below come from null pointers
constexpr std::uint64_t far_away = 1ULL << 37;  // farther from an allocation, an address has nothing to do with it

// What one lane does with which address: "reads 4 bytes".
struct Wrong {
    const Warp& w;
    const Insn& in;
    const Access& x;
    std::uint64_t address;
    unsigned bytes;
    std::string does;
};

std::optional<device::MemoryPlace> place_of(const Wrong& wrong, const Allocation& a) {
    const auto known = wrong.w.executor->global->known(a.base);
    return known ? std::optional(known->place) : std::nullopt;
}

std::uint64_t distance(const Allocation& a, std::uint64_t address) {
    return address < a.base ? a.base - address : address < a.end() ? 0 : address - a.end();
}

// The allocation that the instruction means: the one in which other lanes, or it itself before, found their bytes; else
// the nearest one.
const Allocation* meant(const Wrong& wrong) {
    const Executor& e = *wrong.w.executor;
    const Allocation* found = nullptr;
    for_active(wrong.x.mask, [&](unsigned l) {
        if (!found) found = e.global->find(wrong.x.address[l]);
    });
    if (!found && wrong.in.memory_slot < e.memory.size()) found = e.memory[wrong.in.memory_slot].allocation;
    if (found && distance(*found, wrong.address) < far_away) return found;
    found = e.global->nearest(wrong.address);
    return found && distance(*found, wrong.address) < far_away ? found : nullptr;
}

void diagnose_bounds(const Wrong& wrong, const Allocation& a, device::Diagnostic& d) {
    const std::uint64_t at = wrong.address, end = at + wrong.bytes;
    d.rule = &rules::out_of_bounds;
    d.memory = place_of(wrong, a);
    // Unsigned indices go from 0 to 4,294,967,295 when 1 is taken away.
    const std::uint64_t index = (at - a.base) / wrong.bytes;
    if (at > a.end() && index <= 0xFFFF'FFFF && index >= 0xFFF0'0000)
        d.message = fmt::format("{} at index {} of {{memory}} ({} converted to unsigned)", wrong.does, grouped(index),
                                static_cast<std::int32_t>(index));
    else if (at < a.base)
        d.message = fmt::format("{}, {} before {{memory}}", wrong.does, counted(a.base - at, "byte"));
    else if (at == a.end())
        d.message = wrong.does + " directly past the end of {memory}";
    else if (at > a.end())
        d.message = fmt::format("{}, {} past the end of {{memory}}", wrong.does, counted(at - a.end(), "byte"));
    else
        d.message = fmt::format("{} at offset {} of {{memory}}, the last {} past its end", wrong.does,
                                grouped(at - a.base), grouped(end - a.end()));
}

void diagnose_global(const Wrong& wrong, device::Diagnostic& d) {
    namespace space = device::address_space;
    const GlobalMemory& memory = *wrong.w.executor->global;
    const std::uint64_t at = wrong.address;
    if (const Allocation* inside = memory.find(at)) return diagnose_bounds(wrong, *inside, d);
    if (at < null_page) {
        d.rule = &rules::null_pointer;
        d.message = at == 0 ? wrong.does + " through a null pointer"
                            : fmt::format("{}, {} from a null pointer", wrong.does, counted(at, "byte"));
        return;
    }
    if (const auto known = memory.known(at)) {
        d.rule = &rules::use_after_free;
        d.message =
            fmt::format("{} at offset {} of {{memory}}, which was freed", wrong.does, grouped(at - known->base));
        d.memory = known->place;
        if (known->freed_at.code) d.related.push_back({"freed", known->freed_at, {}});
        return;
    }
    const bool of_device = at >= space::global_base && at < space::host_end;
    const Allocation* a = meant(wrong);
    if (a && (of_device || distance(*a, at) < null_page)) return diagnose_bounds(wrong, *a, d);
    if (!of_device && at < space::user_end && space::is_global(at)) {
        d.rule = &rules::host_pointer;
        d.message = fmt::format("{} at {:#x}, which is host memory", wrong.does, at);
        return;
    }
    d.rule = &rules::out_of_bounds;
    d.message = fmt::format("{} at {:#x}, where nothing is allocated", wrong.does, at);
}

// The static variable of shared memory that ends where all of it ends.
std::optional<device::MemoryPlace> last_shared_variable(const Code& code) {
    const std::pair<std::string, std::uint32_t>* last = nullptr;
    for (const auto& variable : code.shared_offsets)
        if (!last || variable.second >= last->second) last = &variable;
    if (!last) return std::nullopt;
    return device::MemoryPlace{variable_name(last->first), true, code.static_shared_bytes - last->second, {}};
}

void diagnose_shared(const Wrong& wrong, device::Diagnostic& d) {
    const Executor& e = *wrong.w.executor;
    const LaunchLimits& limits = e.launch->limits;
    const std::uint64_t size = limits.shared_bytes, at = wrong.address;
    d.rule = &rules::out_of_bounds;
    if (size == 0) {
        d.message = wrong.does +
                    " of shared memory, but the launch gives the block none: its size is the third "
                    "argument in <<<blocks, threads, bytes>>>";
        return;
    }
    const auto where = at == size  ? std::string(" directly past the end of ")
                       : at > size ? fmt::format(", {} past the end of ", counted(at - size, "byte"))
                                   : fmt::format(", the last {} past the end of ", grouped(at + wrong.bytes - size));
    // Addresses have 32 bits: one before the beginning is a very high one.
    const bool before = at >= 0x8000'0000 && at <= 0xFFFF'FFFF;
    if (!limits.dynamic_shared_bytes && !before) d.memory = last_shared_variable(*e.code);
    if (before)
        d.message = fmt::format("{}, {} before the beginning of shared memory", wrong.does,
                                counted(0x1'0000'0000 - at, "byte"));
    else if (d.memory)
        d.message = wrong.does + where + "{memory} in shared memory";
    else
        d.message = fmt::format("{}{}the block's {} of shared memory{}", wrong.does, where, counted(size, "byte"),
                                limits.dynamic_shared_bytes < size
                                    ? fmt::format(" ({} of them dynamic)", grouped(limits.dynamic_shared_bytes))
                                    : "");
}

void diagnose_outside(const Wrong& wrong, Space space, device::Diagnostic& d) {
    if (space == Space::Global) return diagnose_global(wrong, d);
    if (space == Space::Shared) return diagnose_shared(wrong, d);
    d.rule = &rules::out_of_bounds;
    d.message = fmt::format("{} outside the {}", wrong.does,
                            space == Space::Local ? "thread's local arrays" : "kernel's parameters");
}

void diagnose_misaligned(const Wrong& wrong, Space space, device::Diagnostic& d) {
    d.rule = &rules::misaligned;
    const Allocation* a = space == Space::Global ? wrong.w.executor->global->find(wrong.address) : nullptr;
    if (a) d.memory = place_of(wrong, *a);
    const auto place = [&] {
        if (a) return fmt::format("offset {} of {{memory}}", grouped(wrong.address - a->base));
        if (space == Space::Global) return fmt::format("{:#x}", wrong.address);
        return fmt::format("offset {} of {}", grouped(wrong.address),
                           space == Space::Shared  ? "shared memory"
                           : space == Space::Local ? "local memory"
                                                   : "the kernel's parameters");
    }();
    d.message = fmt::format("{} at {}, which is not a multiple of {}", wrong.does, place, wrong.bytes);
}

void diagnose_read_only(const Wrong& wrong, device::Diagnostic& d) {
    d.rule = &rules::read_only;
    d.memory = place_of(wrong, *wrong.w.executor->global->find(wrong.address));
    d.message = wrong.does + " of {memory}";
}

}  // namespace

void raise_access(const Warp& w, const Insn& in, const Access& x, Space space, Op op, unsigned bytes) {
    namespace error = device::error;
    constexpr const char* verbs[] = {"reads", "writes", "updates"};
    const GlobalMemory& memory = *w.executor->global;
    const auto size = space == Space::Shared  ? w.block->shared_bytes
                      : space == Space::Local ? std::uint64_t{w.local_stride}
                                              : w.executor->param_bytes;
    const auto lanes_with = [&](auto&& wrong) {
        std::uint32_t lanes = 0;
        for_active(x.mask, [&](unsigned l) { lanes |= std::uint32_t{wrong(x.address[l])} << l; });
        return lanes;
    };
    std::uint32_t lanes = lanes_with([&](std::uint64_t a) {  // at fault
        if (space != Space::Global) return !fits(a, a, 0, size, bytes);
        const Allocation* found = memory.find(a);
        return !found || !found->holds(a, bytes);
    });
    int code = error::illegal_address;
    device::Diagnostic d;
    const auto first = [&] {
        return Wrong{w,     in,
                     x,     x.address[std::countr_zero(lanes)],
                     bytes, fmt::format("{} {}", verbs[static_cast<int>(op)], counted(bytes, "byte"))};
    };
    if (lanes) {
        diagnose_outside(first(), space, d);
    } else if ((lanes = lanes_with([&](std::uint64_t a) { return a % bytes != 0; }))) {
        code = error::misaligned_address;
        diagnose_misaligned(first(), space, d);
    } else {
        lanes = lanes_with([&](std::uint64_t a) { return memory.find(a)->read_only; });
        diagnose_read_only(first(), d);
    }
    if (const auto others = std::popcount(lanes) - 1)
        d.message += fmt::format("; {} the same", also(static_cast<unsigned>(others)));
    raise_at(w, &in, code, static_cast<unsigned>(std::countr_zero(lanes)), std::move(d));
}

}  // namespace warpgrade::vgpu
