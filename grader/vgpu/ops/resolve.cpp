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
        d.message = fmt::format("{} at index {} of {{memory}}, which is what {} becomes as an unsigned number",
                                wrong.does, grouped(index), static_cast<std::int32_t>(index));
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
        d.message = fmt::format("{} at {:#x}, which is memory of the host", wrong.does, at);
        return;
    }
    d.rule = &rules::out_of_bounds;
    d.message = fmt::format("{} at {:#x}, where no memory is", wrong.does, at);
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

void diagnose_misaligned(const Wrong& wrong, Space space, device::Diagnostic& d) {
    d.rule = &rules::misaligned;
    const Allocation* a = space == Space::Global ? wrong.w.executor->global->find(wrong.address) : nullptr;
    if (a) d.memory = place_of(wrong, *a);
    d.message = fmt::format("{} at {}, which is no multiple of {}", wrong.does,
                            a ? fmt::format("offset {} of {{memory}}", grouped(wrong.address - a->base))
                            : space == Space::Global ? fmt::format("{:#x}", wrong.address)
                            : space == Space::Shared ? fmt::format("offset {} of shared memory", grouped(wrong.address))
                                                     : fmt::format("offset {} of local memory", grouped(wrong.address)),
                            wrong.bytes);
}

}  // namespace

void raise_access(const Warp& w, const Insn& in, const Access& x, Space space, Op op, unsigned bytes) {
    namespace error = device::error;
    constexpr const char* op_names[] = {"load", "store", "atomic"};
    constexpr const char* verbs[] = {"reads", "writes", "updates"};
    const auto space_name = [&] {
        switch (space) {
            case Space::Shared:
                return "shared";
            case Space::Local:
                return "local";
            case Space::Param:
                return "parameter";
            default:
                return "global";
        }
    }();
    const auto what =
        fmt::format("{} {} of {} byte{}", space_name, op_names[static_cast<int>(op)], bytes, bytes == 1 ? "" : "s");
    unsigned lane = static_cast<unsigned>(std::countr_zero(x.mask)), lanes = 0;
    const auto at = [&](auto&& wrong) {
        lanes = 0;
        for_active(x.mask, [&](unsigned l) {
            if (wrong(x.address[l]) && lanes++ == 0) lane = l;
        });
        return lanes > 0;
    };
    const auto explained = [&](auto&& explain) {
        const Wrong wrong{w,     in,
                          x,     x.address[lane],
                          bytes, fmt::format("{} {}", verbs[static_cast<int>(op)], counted(bytes, "byte"))};
        device::Diagnostic d;
        explain(wrong, d);
        if (lanes > 1) d.message += fmt::format("; {} the same", also(lanes - 1));
        return d;
    };
    const auto size = space == Space::Shared  ? w.block->shared_bytes
                      : space == Space::Local ? std::uint64_t{w.local_stride}
                                              : w.executor->param_bytes;
    const GlobalMemory& memory = *w.executor->global;
    const bool outside = at([&](std::uint64_t a) {
        if (space != Space::Global) return !fits(a, a, 0, size, bytes);
        const Allocation* found = memory.find(a);
        return !found || !found->holds(a, bytes);
    });
    if (outside) {
        const std::uint64_t a = x.address[lane];
        const std::string where =
            space == Space::Global ? fmt::format("at {:#x}: {}", a, memory.describe(a))
            : a >= size
                ? fmt::format("at offset {}: {} bytes past the end of the {} bytes there are", a, a - size, size)
                : fmt::format("at offset {}: reaches beyond the {} bytes there are", a, size);
        raise_at(w, &in, error::illegal_address, what + " out of bounds " + where, lane,
                 explained([&](const Wrong& wrong, device::Diagnostic& d) {
                     if (space == Space::Global) return diagnose_global(wrong, d);
                     if (space == Space::Shared) return diagnose_shared(wrong, d);
                     d.rule = &rules::out_of_bounds;
                     d.message = fmt::format("{} outside the {}", wrong.does,
                                             space == Space::Local ? "thread's local arrays" : "kernel's parameters");
                 }));
    }
    if (at([&](std::uint64_t a) { return a % bytes != 0; }))
        raise_at(w, &in, error::misaligned_address,
                 fmt::format("misaligned {}: address {:#x} is not a multiple of {}", what, x.address[lane], bytes),
                 lane,
                 explained([&](const Wrong& wrong, device::Diagnostic& d) { diagnose_misaligned(wrong, space, d); }));
    // What is neither outside nor misaligned is read-only.
    at([&](std::uint64_t a) { return memory.find(a)->read_only; });
    raise_at(w, &in, error::illegal_address,
             fmt::format("{} to read-only memory: {}", what, memory.describe(x.address[lane])), lane,
             explained([&](const Wrong& wrong, device::Diagnostic& d) {
                 d.rule = &rules::read_only;
                 d.message = wrong.does + " of {memory}";
                 d.memory = place_of(wrong, *memory.find(wrong.address));
             }));
}

}  // namespace warpgrade::vgpu
