#include "vgpu/checks/undefined.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "vgpu/checks/watch.hpp"
#include "vgpu/state/lanes.hpp"

namespace warpgrade::vgpu {

namespace {

std::span<const RegisterUse> uses_of(const Code& code, const Insn& in) {
    const auto insn = static_cast<std::uint32_t>(&in - code.insns.data());
    const auto first = std::ranges::lower_bound(code.uses, insn, {}, &RegisterUse::insn);
    const auto last = std::ranges::upper_bound(first, code.uses.end(), insn, {}, &RegisterUse::insn);
    return {first, last};
}

void run_carefully(Warp& w, const Insn* begin, const Insn* end, std::uint32_t mask);

void run_insns(Warp& w, const Insn* begin, const Insn* end, std::uint32_t mask) {
    if (w.watch.undefined.empty()) [[likely]] {
        const Insn* i = begin;
        try {
            if (mask == full_mask)
                for (; i != end; ++i) i->full(w, *i, mask);
            else
                for (; i != end; ++i) i->masked(w, *i, mask);
            return;
        } catch (const UndefinedValueFound&) {
            begin = i + 1;
        }
    }
    run_carefully(w, begin, end, mask);
}

std::uint32_t undefined_at(const Warp& w, Ref place) {
    const std::byte* at = operand<std::byte>(w, place);
    std::uint32_t lanes = 0;
    for (const UndefinedRegister& r : w.watch.undefined)
        if (r.place == at) lanes |= r.lanes;
    return lanes;
}

void set_undefined(Warp& w, Ref place, std::uint32_t lanes, std::uint32_t undefined, const UndefinedOrigin& origin) {
    std::byte* at = operand<std::byte>(w, place);
    for (UndefinedRegister& r : w.watch.undefined)
        if (r.place == at) r.lanes &= ~lanes;
    std::erase_if(w.watch.undefined, [](const UndefinedRegister& r) { return r.lanes == 0; });
    if (undefined) w.watch.undefined.push_back({at, undefined, origin});
}

// Reports the undefined registers that `in` uses and treats them as defined from then on. `passed` is a source that
// `in` only passes on.
void check_use(Warp& w, const Insn& in, std::uint32_t mask, std::optional<Ref> passed = {}) {
    for (const RegisterUse& use : uses_of(*w.executor->code, in)) {
        if (use.writes || use.place == passed) continue;
        const std::uint32_t lanes = undefined_at(w, use.place) & mask;
        if (!lanes) continue;
        const std::byte* at = operand<std::byte>(w, use.place);
        for (const UndefinedRegister& r : w.watch.undefined)
            if (r.place == at && (r.lanes & lanes)) {
                report_use(w, in, static_cast<unsigned>(std::countr_zero(r.lanes & lanes)), r.origin);
                break;
            }
        set_undefined(w, use.place, lanes, 0, {});
    }
}

// Calls visit(address of the element in lane 0, register, bytes) for each element that a load or store of parameters
// moves.
template <class F>
void for_parameters(const Warp& w, const Insn& in, F&& visit) {
    const Ref refs[4] = {in.d, in.b, in.c, in.e};
    const unsigned bytes = 1u << (in.form >> param_form::bytes_shift & 3);
    for (unsigned i = 0; i < (in.form & param_form::elements); ++i)
        visit(operand<std::byte>(w, in.a) + in.offset + std::size_t{i} * bytes, refs[i], bytes);
}

// Stores of parameters: what they pass is as undefined as the registers.
void note_passed(Warp& w, const Insn& in, std::uint32_t lanes) {
    auto& all = w.watch.undefined;
    for_parameters(w, in, [&](std::byte* at, Ref place, unsigned bytes) {
        clear_undefined_parameters(w, at, bytes, lanes);
        const std::byte* source = operand<std::byte>(w, place);
        for (const UndefinedRegister& r : std::vector(all))
            if (r.bytes == 0 && r.place == source) all.push_back({at, r.lanes & lanes, r.origin, bytes});
    });
}

// Loads of parameters: the registers become as undefined as what was passed.
void note_received(Warp& w, const Insn& in, std::uint32_t lanes) {
    auto& all = w.watch.undefined;
    for_parameters(w, in, [&](const std::byte* at, Ref place, unsigned bytes) {
        set_undefined(w, place, lanes, 0, {});
        for (const UndefinedRegister& r : std::vector(all))
            if (r.lies_in(at, bytes)) all.push_back({operand<std::byte>(w, place), r.lanes & lanes, r.origin});
    });
}

// Compilers know that local arrays and __shared__ variables exist. So they load elements before they know whether the
// program wants them, compute with them, and drop the result if it does not. A result computed from such an element is
// itself only undefined; it is an error when a branch, an address, or memory that others read depends on it.
bool may_be_dropped(const UndefinedOrigin& origin) {
    return origin.space == ptx::Space::Local || origin.space == ptx::Space::Shared;
}

// True if, in one of the lanes, it is an error to store the register's value where others can read it.
bool must_not_be_stored(const Warp& w, Ref place, std::uint32_t lanes) {
    const std::byte* at = operand<std::byte>(w, place);
    return std::ranges::any_of(w.watch.undefined, [&](const UndefinedRegister& r) {
        return r.place == at && (r.lanes & lanes) && (r.origin.space == ptx::Space::None || r.origin.computed);
    });
}

// True if, in one of the lanes, it is an error to compute with the register's value at all.
bool must_not_be_computed_with(const Warp& w, Ref place, std::uint32_t lanes) {
    const std::byte* at = operand<std::byte>(w, place);
    return std::ranges::any_of(w.watch.undefined, [&](const UndefinedRegister& r) {
        return r.place == at && (r.lanes & lanes) && !may_be_dropped(r.origin);
    });
}

bool is_used(const Warp& w, const Insn& in, const RegisterUse& use, std::uint32_t lanes) {
    if (use.writes || !(undefined_at(w, use.place) & lanes)) return false;
    if (in.has_guard && use.place == in.guard) return true;
    switch (in.flow) {
        case Flow::Uses:
        case Flow::Loads:
            return true;
        case Flow::Carries:
        case Flow::Passes:
        case Flow::Receives:
            return false;
        case Flow::Computes:
            return must_not_be_computed_with(w, use.place, lanes);
        case Flow::Selects:
            return use.place == in.c && must_not_be_computed_with(w, use.place, lanes);
        case Flow::Stores:
            break;
    }
    if (use.place == in.a) return true;
    const StatKind kind = w.executor->code->stat_kinds[in.memory_slot];
    return kind != StatKind::LocalStore && must_not_be_stored(w, use.place, lanes);
}

StoredUndefined stored_undefined(const Warp& w, const Insn& in, std::uint32_t lanes) {
    StoredUndefined stored;
    stored.elements = in.form & param_form::elements;
    const Ref places[4] = {in.d, in.b, in.c, in.e};
    for (unsigned i = 0; i < stored.elements; ++i) stored.lanes[i] = undefined_at(w, places[i]) & lanes;
    return stored;
}

// Runs an instruction that computes with predicates. Returns the lanes in which a predicate that it sets depends on an
// undefined one; "false and anything" does not depend on it.
std::uint32_t run_and_compare(Warp& w, const Insn& in, std::uint32_t mask, std::span<const RegisterUse> uses) {
    struct Saved {
        Ref place;
        std::uint32_t before, otherwise;
        bool writes;
    };
    std::vector<Saved> saved;
    for (const RegisterUse& use : uses)
        if (use.predicate) saved.push_back({use.place, predicate(w, use.place), 0, use.writes});
    for (const Saved& s : saved)
        if (!s.writes) predicate(w, s.place) = s.before ^ undefined_at(w, s.place);
    in.masked(w, in, mask);
    for (Saved& s : saved) s.otherwise = predicate(w, s.place);
    for (const Saved& s : saved) predicate(w, s.place) = s.before;
    in.masked(w, in, mask);
    std::uint32_t differ = 0;
    for (const Saved& s : saved)
        if (s.writes) differ |= s.otherwise ^ predicate(w, s.place);
    return differ;
}

void run_carefully(Warp& w, const Insn* begin, const Insn* end, std::uint32_t mask) {
    w.watch.one_by_one = true;
    for (const Insn* i = begin; i != end; ++i) {
        if (w.watch.undefined.empty()) {
            w.watch.one_by_one = false;
            return run_insns(w, i, end, mask);
        }
        const Insn& in = *i;
        std::uint32_t lanes = mask;
        if (in.has_guard) lanes = guard_lanes(w, in, mask);
        const auto uses = uses_of(*w.executor->code, in);
        std::uint32_t undefined = 0;
        UndefinedOrigin origin;
        const auto carry = [&](Ref place, std::uint32_t of) {
            const std::byte* at = operand<std::byte>(w, place);
            for (const UndefinedRegister& r : w.watch.undefined)
                if (r.place == at && (r.lanes & of)) undefined |= r.lanes & of, origin = r.origin;
        };
        bool has_run = false;
        if (std::ranges::any_of(uses, [&](const RegisterUse& use) { return is_used(w, in, use, lanes); })) {
            check_use(w, in, lanes);  // a copy whose address or predicate is undefined uses all of its sources
        } else if (in.flow == Flow::Selects) {
            const std::uint32_t first = predicate(w, in.c) ^ (in.form & select_form::negated ? ~0u : 0u);
            carry(in.a, lanes & first);
            carry(in.b, lanes & ~first);
            const std::uint32_t of_values = undefined;
            carry(in.c, lanes);
            if (undefined != of_values && !origin.computed) origin.computed = &in;
        } else if (in.flow == Flow::Carries || in.flow == Flow::Stores) {
            for (const RegisterUse& use : uses)
                if (!use.writes) carry(use.place, lanes);
        } else if (in.flow == Flow::Computes) {
            bool of_predicates = false, of_values = false;
            for (const RegisterUse& use : uses) {
                if (use.writes || !(undefined_at(w, use.place) & lanes)) continue;
                carry(use.place, lanes);
                (use.predicate ? of_predicates : of_values) = true;
            }
            if (of_predicates && !of_values) undefined &= run_and_compare(w, in, mask, uses), has_run = true;
            if (undefined && !origin.computed) origin.computed = &in;
        }
        StoredUndefined stored;
        if (in.flow == Flow::Stores) stored = stored_undefined(w, in, lanes);
        w.watch.stored_undefined = undefined ? &stored : nullptr;
        w.watch.stored_origin = origin;
        if (in.flow == Flow::Loads)
            for (const RegisterUse& use : uses)
                if (use.writes) set_undefined(w, use.place, lanes, 0, {});
        if (!has_run) in.masked(w, in, mask);
        w.watch.stored_undefined = nullptr;
        if (in.flow == Flow::Loads) continue;
        if (in.flow == Flow::Passes) note_passed(w, in, lanes);
        if (in.flow == Flow::Receives) note_received(w, in, lanes);
        if (in.flow == Flow::Passes || in.flow == Flow::Receives) continue;
        for (const RegisterUse& use : uses)
            if (use.writes) set_undefined(w, use.place, lanes, in.flow == Flow::Stores ? 0 : undefined, origin);
    }
    w.watch.one_by_one = false;
}

}  // namespace

void run_watched(Warp& w, const BasicBlock& b, std::uint32_t mask) {
    const Code& code = *w.executor->code;
    const Insn* const end = code.insns.data() + b.end;
    run_insns(w, code.insns.data() + b.begin, end, mask);
    if (!w.watch.undefined.empty() && b.terminator != Terminator::Fall && b.terminator != Terminator::Collective &&
        b.terminator != Terminator::Call)
        check_use(w, *end, mask);
}

void gather_exchanged(Warp& w, const Insn& in, std::uint32_t mask) {
    if (w.watch.undefined.empty()) return;
    if (in.flow != Flow::Carries) return check_use(w, in, mask);
    check_use(w, in, mask, in.a);
    const std::byte* source = operand<std::byte>(w, in.a);
    for (const UndefinedRegister& r : w.watch.undefined)
        if (r.bytes == 0 && r.place == source && (r.lanes & mask) && r.origin.space != ptx::Space::None)
            w.watch.exchanged.push_back({nullptr, r.lanes & mask, r.origin});
}

void note_exchanged(Warp& w, const Insn& in, const std::uint32_t* from, std::uint32_t mask) {
    for (const UndefinedRegister& r : w.watch.exchanged)
        if (const std::uint32_t lanes = ballot([&](unsigned lane) { return lane_on(r.lanes, from[lane]); }) & mask)
            w.watch.undefined.push_back({operand<std::byte>(w, in.d), lanes, r.origin});
}

void clear_undefined_parameters(Warp& w, const std::byte* at, std::uint64_t bytes, std::uint32_t lanes) {
    for (UndefinedRegister& r : w.watch.undefined)
        if (r.lies_in(at, bytes)) r.lanes &= ~lanes;
    std::erase_if(w.watch.undefined, [](const UndefinedRegister& r) { return r.lanes == 0; });
}

void copy_undefined_parameters(Warp& w, const std::byte* from, std::byte* to, std::uint64_t bytes,
                               std::uint32_t lanes) {
    auto& all = w.watch.undefined;
    clear_undefined_parameters(w, to, bytes, lanes);
    for (const UndefinedRegister& r : std::vector(all))
        if (r.lies_in(from, bytes)) all.push_back({to + (r.place - from), r.lanes & lanes, r.origin, r.bytes});
}

void define_results(Warp& w, const Insn& in, std::uint32_t mask) {
    w.watch.exchange = &in;
    if (w.watch.undefined.empty()) return;
    for (const RegisterUse& use : uses_of(*w.executor->code, in))
        if (use.writes) set_undefined(w, use.place, mask, 0, {});
}

}  // namespace warpgrade::vgpu
