#include "vgpu/ops/resolve.hpp"

#include <fmt/format.h>

#include <optional>

#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

using ptx::Space;
namespace rules = device::rules;

namespace {

constexpr std::uint64_t null_page = 65536;      // addresses below come from null pointers
constexpr std::uint64_t far_away = 1ULL << 37;  // farther than this from an allocation, an address is unrelated to it

// One lane's faulty access. `does` says what it does: "reads 4 bytes".
struct FaultyAccess {
    const Warp& w;
    const Insn& in;
    const Access& x;
    std::uint64_t address;
    unsigned bytes;
    std::string does;
};

std::optional<device::MemoryPlace> place_of(const FaultyAccess& wrong, const Allocation& a) {
    const auto known = wrong.w.executor->global->known(a.base);
    return known ? std::optional(known->place) : std::nullopt;
}

std::uint64_t distance(const Allocation& a, std::uint64_t address) {
    return address < a.base ? a.base - address : address < a.end() ? 0 : address - a.end();
}

// The allocation that the instruction was meant for: the one that other lanes access, or that it accessed before; else
// the nearest one.
const Allocation* find_intended_allocation(const FaultyAccess& wrong) {
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

void diagnose_bounds(const FaultyAccess& wrong, const Allocation& a, device::Diagnostic& d) {
    const std::uint64_t at = wrong.address, end = at + wrong.bytes;
    d.rule = &rules::out_of_bounds;
    d.memory = place_of(wrong, a);
    // An unsigned index that is 0 becomes 4,294,967,295 when 1 is subtracted.
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

void diagnose_global(const FaultyAccess& wrong, device::Diagnostic& d) {
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
    const Allocation* a = find_intended_allocation(wrong);
    if (a && (of_device || distance(*a, at) < null_page)) return diagnose_bounds(wrong, *a, d);
    if (!of_device && at < space::user_end && space::is_global(at)) {
        d.rule = &rules::host_pointer;
        d.message = fmt::format("{} at {:#x}, which is host memory", wrong.does, at);
        return;
    }
    d.rule = &rules::out_of_bounds;
    d.message = fmt::format("{} at {:#x}, where nothing is allocated", wrong.does, at);
}

// The range of shared memory that the instruction was meant for: the one that other lanes access, or that it accessed
// before; else the nearest one.
const SharedRange* find_intended_range(const FaultyAccess& wrong, std::int64_t at) {
    const SharedLayout& shared = wrong.w.executor->launch->shared;
    const SharedRange* found = shared.find(wrong.address, wrong.address, 1);  // holds the first byte, if not the last
    for_active(wrong.x.mask, [&](unsigned l) {
        if (!found) found = shared.find(wrong.x.address[l], wrong.x.address[l], wrong.bytes);
    });
    if (!found && wrong.in.memory_slot < wrong.w.executor->memory.size())
        if (const MemorySite& site = wrong.w.executor->memory[wrong.in.memory_slot]; site.shared_bytes != 0)
            found = shared.find(site.shared_begin, site.shared_begin, 1);
    return found && found->kind != SharedRange::Kind::System ? found : shared.nearest(at);
}

void diagnose_shared(const FaultyAccess& wrong, device::Diagnostic& d) {
    const Executor& e = *wrong.w.executor;
    const LaunchLimits& limits = e.launch->limits;
    // Addresses have 32 bits: one before the beginning is very high.
    const auto at = wrong.address <= ~std::uint32_t{0} ? static_cast<std::int32_t>(wrong.address)
                                                       : static_cast<std::int64_t>(wrong.address);
    d.rule = &rules::out_of_bounds;
    const SharedRange* range = find_intended_range(wrong, at);
    const bool is_dynamic = e.code->names_dynamic_shared && at >= e.code->dynamic_shared_begin;
    if (!range || (is_dynamic && limits.dynamic_shared_bytes == 0)) {
        d.message = fmt::format(
            "{} of {}shared memory, but the launch gives the block none: its size is the third argument in "
            "<<<blocks, threads, bytes>>>",
            wrong.does, range ? "dynamic " : "");
        return;
    }
    const std::int64_t begin = range->begin, end = range->end();
    const auto where = at < begin  ? fmt::format(", {} before ", counted(begin - at, "byte"))
                       : at == end ? std::string(" directly past the end of ")
                       : at > end  ? fmt::format(", {} past the end of ", counted(at - end, "byte"))
                                   : fmt::format(", the last {} past the end of ", grouped(at + wrong.bytes - end));
    if (range->variable) {
        d.memory = device::MemoryPlace{variable_name(range->variable->name), true, range->bytes, {}};
        d.message = wrong.does + where + "{memory} in shared memory";
    } else {
        d.message = fmt::format("{}{}the block's {} of {}shared memory", wrong.does, where,
                                counted(range->bytes, "byte"), e.code->static_shared_bytes != 0 ? "dynamic " : "");
    }
}

void diagnose_outside(const FaultyAccess& wrong, Space space, device::Diagnostic& d) {
    if (space == Space::Global) return diagnose_global(wrong, d);
    if (space == Space::Shared) return diagnose_shared(wrong, d);
    d.rule = &rules::out_of_bounds;
    d.message = fmt::format("{} outside the {}", wrong.does,
                            space == Space::Local ? "thread's local arrays" : "kernel's parameters");
}

void diagnose_misaligned(const FaultyAccess& wrong, Space space, device::Diagnostic& d) {
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

// The bytes exist, but this instruction must not access them.
void diagnose_forbidden(const FaultyAccess& wrong, Space space, device::Diagnostic& d) {
    const Allocation* a = space == Space::Global ? wrong.w.executor->global->find(wrong.address) : nullptr;
    if (a) d.memory = place_of(wrong, *a);
    d.rule = &rules::read_only;
    d.message = wrong.does + (a                       ? " of {memory}"
                              : space == Space::Local ? " of local memory"
                                                      : " of the kernel's parameters");
    if (space == Space::Param || (a && a->read_only)) return;
    d.rule = &rules::out_of_bounds;
    d.message += ", but an mbarrier lies in shared memory";
}

// What an AccessLog needs to know of an access; `begin`: where the memory begins that it accesses.
LoggedAccess describe_access(const Warp& w, const Insn& in, LoggedAccess::Space space, std::uint64_t begin,
                             unsigned bytes, Op op) {
    using Kind = LoggedAccess::Kind;
    LoggedAccess one;
    one.block = w.block->linear;
    one.warp = w.index;
    one.line = w.executor->launch->line_key(in);
    one.kind = op == Op::Load ? Kind::load : op == Op::Store ? Kind::store : Kind::atomic;
    one.space = space;
    one.base = begin;
    one.bytes = bytes;
    return one;
}

// True for what counts as access of global or shared memory: textures, surfaces and constants count otherwise.
bool can_be_traced(const Warp& w, const Insn& in) {
    const auto& kinds = w.executor->code->stat_kinds;
    const StatKind kind = in.memory_slot < kinds.size() ? kinds[in.memory_slot] : StatKind::None;
    return kind != StatKind::ConstantLoad && kind != StatKind::TextureLoad && kind != StatKind::SurfaceLoad &&
           kind != StatKind::SurfaceStore && kind != StatKind::None;
}

}  // namespace

void note_access(Warp& w, const Insn& in, const Allocation& a, const Access& x, unsigned bytes, Op op,
                 device::MemoryUse use) {
    Executor& e = *w.executor;
    if (e.launch->limits.note_accesses) e.watch.notes.note(a, x, bytes, use);
    if (w.watch.traced && can_be_traced(w, in))
        e.watch.log.note(describe_access(w, in, LoggedAccess::Space::global, a.base, bytes, op), x);
}

void trace_shared(Warp& w, const Insn& in, const Access& x, unsigned bytes, Op op) {
    if (!w.watch.traced || !can_be_traced(w, in)) return;
    const SharedRange* range = w.executor->launch->shared.find(x.low, x.low, bytes);
    if (!range || range->kind == SharedRange::Kind::System) return;
    w.executor->watch.log.note(describe_access(w, in, LoggedAccess::Space::shared, range->begin, bytes, op), x);
}

bool find_shared(const Warp& w, MemorySite& site, std::uint64_t low, std::uint64_t high, unsigned bytes) {
    const SharedRange* range = w.executor->launch->shared.find(low, high, bytes);
    if (!range) return false;
    site.shared_begin = range->begin;
    site.shared_bytes = range->bytes;
    return true;
}

bool fits_shared(const Warp& w, const Access& x, unsigned bytes) {
    std::uint32_t fit = 0;
    for_active(x.mask, [&](unsigned l) {
        fit |= std::uint32_t{w.executor->launch->shared.find(x.address[l], x.address[l], bytes) != nullptr} << l;
    });
    return fit == x.mask;
}

void raise_access(const Warp& w, const Insn& in, const Access& x, Space space, Op op, unsigned bytes) {
    namespace error = device::error;
    constexpr const char* verbs[] = {"reads", "writes", "updates"};
    const GlobalMemory& memory = *w.executor->global;
    const std::uint64_t size = space == Space::Local ? w.local_end : w.executor->param_bytes;
    const auto lanes_with = [&](auto&& is_faulty) {
        std::uint32_t lanes = 0;
        for_active(x.mask, [&](unsigned l) { lanes |= std::uint32_t{is_faulty(x.address[l])} << l; });
        return lanes;
    };
    std::uint32_t lanes = lanes_with([&](std::uint64_t a) {  // the faulty ones
        if (space == Space::Shared) return w.executor->launch->shared.find(a, a, bytes) == nullptr;
        if (space != Space::Global) return !fits(a, a, 0, size, bytes);
        const Allocation* found = memory.find(a);
        return !found || !found->holds(a, bytes);
    });
    // A misaligned lane inside its memory shows that the beginning is wrong and not the number of threads.
    const auto is_misaligned = [&](std::uint64_t a) { return a % bytes != 0; };
    const std::uint32_t inside = lanes ? lanes_with(is_misaligned) & ~lanes : 0;
    const bool misaligned = inside != 0;
    if (misaligned) lanes = inside;
    int code = error::illegal_address;
    device::Diagnostic d;
    const auto first = [&] {
        return FaultyAccess{w,     in,
                            x,     x.address[std::countr_zero(lanes)],
                            bytes, fmt::format("{} {}", verbs[static_cast<int>(op)], counted(bytes, "byte"))};
    };
    const bool outside = lanes != 0 && !misaligned;
    if (lanes == 0) lanes = lanes_with(is_misaligned);
    if (outside) {
        diagnose_outside(first(), space, d);
    } else if (lanes != 0) {
        code = error::misaligned_address;
        diagnose_misaligned(first(), space, d);
    } else {
        if (space == Space::Global) lanes = lanes_with([&](std::uint64_t a) { return memory.find(a)->read_only; });
        if (lanes == 0) lanes = x.mask;
        diagnose_forbidden(first(), space, d);
    }
    if (const auto others = std::popcount(lanes) - 1)
        d.message += fmt::format("; {} the same", also(static_cast<unsigned>(others)));
    raise_at(w, &in, code, static_cast<unsigned>(std::countr_zero(lanes)), std::move(d));
}

}  // namespace warpgrade::vgpu
