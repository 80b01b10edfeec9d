// Exchange between the lanes of a warp: shuffles, votes, matches, reductions. The scheduler calls a handler when all
// lanes in the member mask have arrived (see WarpRunner::collective); `participants` are the lanes that take part, and
// `mask` those that need a result.
#include "vgpu/checks/undefined.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/functors.hpp"
#include "vgpu/ops/opcodes.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpgrade::vgpu {
namespace {

enum Shuffle : std::uint16_t { Up = 0, Down = 1, Butterfly = 2, Index = 3 };

// Lanes that read from a lane that does not take part get an undefined value.
void note_absent(Warp& w, const Insn& in, const std::uint32_t* from, std::uint32_t mask) {
    if (w.present == full_mask) return;
    const std::uint32_t nothing = ballot([&](unsigned lane) { return !lane_on(w.present, from[lane]); }) & mask;
    if (nothing)
        w.watch.undefined.push_back({operand<std::byte>(w, in.d), nothing, {w.watch.exchange, ptx::Space::None, 0}});
}

// picked[lane] = source[from[lane]]
void pick_lanes(std::uint32_t* picked, const std::uint32_t* source, const std::uint32_t* from) {
#if defined(__AVX2__)
    const auto lanes = [](const std::uint32_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); };
    const __m256i sources[] = {lanes(source), lanes(source + 8), lanes(source + 16), lanes(source + 24)};
    for (unsigned g = 0; g < warp_size; g += 8) {
        const __m256i which = lanes(from + g);
        // The lowest three bits choose a lane of each vector, the upper two then choose a vector by their sign.
        const auto lane_of = [&](unsigned i) {
            return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(sources[i], which));
        };
        const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(which, 28)),
                     upper = _mm256_castsi256_ps(_mm256_slli_epi32(which, 27));
        const __m256 chosen = _mm256_blendv_ps(_mm256_blendv_ps(lane_of(0), lane_of(1), odd),
                                               _mm256_blendv_ps(lane_of(2), lane_of(3), odd), upper);
        _mm256_store_si256(reinterpret_cast<__m256i*>(picked + g), _mm256_castps_si256(chosen));
    }
#else
    for (unsigned lane = 0; lane < warp_size; ++lane) picked[lane] = source[from[lane]];
#endif
}

// shfl.sync d|p, a, b, c: c holds a clamp value and a segment mask (bits 8–12). PTX leaves open what a lane gives that
// is elsewhere or has exited. An H100 gives 0, and public code relies on it (NVIDIA's reduce7). `from` becomes the lane
// that each lane reads from.
template <Shuffle Kind>
[[gnu::always_inline]] inline void shuffle(Warp& w, const Insn& in, std::uint32_t mask, std::uint32_t* from) {
    const auto* source = operand<std::uint32_t>(w, in.a);
    alignas(64) std::uint32_t present[warp_size], picked[warp_size];
    if (w.present != full_mask) {
        for (unsigned lane = 0; lane < warp_size; ++lane) present[lane] = lane_on(w.present, lane) ? source[lane] : 0;
        source = present;
    }
    const auto *b = operand<std::uint32_t>(w, in.b), *c = operand<std::uint32_t>(w, in.c);
    const std::uint32_t in_range = ballot([&](unsigned lane) {
        const std::uint32_t bval = b[lane] & 31, cval = c[lane] & 31, segment = (c[lane] >> 8) & 31;
        const std::uint32_t highest = (lane & segment) | (cval & ~segment), lowest = lane & segment;
        const std::uint32_t j = Kind == Up          ? lane - bval
                                : Kind == Down      ? lane + bval
                                : Kind == Butterfly ? lane ^ bval
                                                    : lowest | (bval & ~segment);
        const auto distance = static_cast<std::int32_t>(j), bound = static_cast<std::int32_t>(highest);
        const bool ok = Kind == Up ? distance >= bound : distance <= bound;
        from[lane] = (ok ? j : lane) & 31;
        return ok;
    });
    pick_lanes(picked, source, from);
    const auto value = [&](unsigned lane) { return picked[lane]; };
    if (mask == full_mask)
        for_lanes<true>(operand<std::uint32_t>(w, in.d), mask, value);
    else
        for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, value);
    std::uint32_t& p = predicate(w, in.second);
    p = (p & ~mask) | (in_range & mask);
}

template <Shuffle Kind>
[[gnu::noinline]] void run_watched_shfl(Warp& w, const Insn& in, std::uint32_t mask) {
    alignas(64) std::uint32_t from[warp_size];
    shuffle<Kind>(w, in, mask, from);
    note_absent(w, in, from, mask);
    if (!w.watch.exchanged.empty()) [[unlikely]]
        note_exchanged(w, in, from, mask);
}

template <Shuffle Kind>
void run_shfl(Warp& w, const Insn& in, std::uint32_t mask) {
    if (w.executor->watch.values) return run_watched_shfl<Kind>(w, in, mask);
    alignas(64) std::uint32_t from[warp_size];
    shuffle<Kind>(w, in, mask, from);
}

// What the scheduler needs for a collective: the member mask, and the bytes that each lane exchanges.
void collective(InsnBuilder& b, std::size_t mask_operand, unsigned source_bytes, Handler h) {
    b.out.set_members(b.source(mask_operand, ptx::Type::B32));
    b.out.form = static_cast<std::uint16_t>(b.out.form | source_bytes << collective_form::source_shift);
    b.handlers({h, h});
}

// The members that take part, from the first lane of the mask: all its lanes have the same members.
std::uint32_t members_of(const Warp& w, const Insn& in, std::uint32_t mask) {
    return operand<std::uint32_t>(w, in.members())[std::countr_zero(mask)] & w.participants;
}

template <Shuffle Kind>
void decode_shfl(InsnBuilder& b) {
    b.expect_operands(5, 5);
    const ptx::Operand& d = b.operand(0);
    const bool pair = d.kind == ptx::Operand::Kind::Pair && d.elements.size() == 2;
    b.out.d = b.destination(pair ? d.elements[0] : d, 4);
    b.out.second = pair ? b.predicate_destination(d.elements[1]) : b.sink(4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    b.out.c = b.source(3, ptx::Type::B32);
    collective(b, 4, 4, run_shfl<Kind>);
}

enum Vote : std::uint16_t { All = 0, Any = 1, Uniform = 2, Ballot = 3 };

void run_vote(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t members = members_of(w, in, mask);
    const std::uint32_t holds = (predicate(w, in.a) ^ (in.form & collective_form::negated ? ~0u : 0u)) & members;
    const unsigned kind = in.form & 3;
    if (kind == Ballot) {
        for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, [=](unsigned) { return holds; });
        return;
    }
    const bool r = kind == All ? holds == members : kind == Any ? holds != 0 : holds == members || holds == 0;
    std::uint32_t& d = predicate(w, in.d);
    d = (d & ~mask) | (r ? mask : 0u);
}

template <Vote Kind>
void decode_vote(InsnBuilder& b) {
    b.expect_operands(3, 3);
    bool negate = false;
    b.out.a = b.predicate_source(b.operand(1), &negate);
    b.out.d = Kind == Ballot ? b.destination(0, 4) : b.predicate_destination(b.operand(0));
    b.out.form = static_cast<std::uint16_t>(Kind | (negate ? collective_form::negated : 0));
    collective(b, 2, 0, run_vote);
}

// match.any: the lanes with the same value; match.all: the members if all agree, else 0.
template <class T, bool EveryLane>
void run_match(Warp& w, const Insn& in, std::uint32_t mask) {
    const T* a = operand<T>(w, in.a);
    auto* d = operand<std::uint32_t>(w, in.d);
    const std::uint32_t members = members_of(w, in, mask);
    std::uint32_t same[warp_size] = {};
    for_active(mask, [&](unsigned l) { same[l] = ballot([&](unsigned o) { return a[o] == a[l]; }) & members; });
    // An H100 takes two exchanges for each different value of 32 bits (tests/model/h100.md, "match any").
    std::uint32_t values = EveryLane ? 1 : 0;
    if (!EveryLane)
        for_active(mask, [&](unsigned l) { values += std::countr_zero(same[l] & mask) == static_cast<int>(l); });
    w.executor->match_exchanges += 2 * values * sizeof(T) / 4;
    const bool agree = EveryLane && same[std::countr_zero(mask)] == members;
    for_active(mask, [&](unsigned l) { d[l] = EveryLane ? (agree ? members : 0) : same[l]; });
    if (EveryLane) {
        std::uint32_t& p = predicate(w, in.second);
        p = (p & ~mask) | (agree ? mask : 0u);
    }
}

template <bool EveryLane>
void decode_match(InsnBuilder& b) {
    b.expect_operands(3, 3);
    const ptx::Operand& d = b.operand(0);
    const bool pair = d.kind == ptx::Operand::Kind::Pair && d.elements.size() == 2;
    b.out.d = b.destination(pair ? d.elements[0] : d, 4);
    b.out.second = pair ? b.predicate_destination(d.elements[1]) : b.sink(4);
    b.out.a = b.source(1, b.type());
    const unsigned bytes = ptx::size_of(b.type());
    collective(b, 2, bytes, bytes == 8 ? run_match<std::uint64_t, EveryLane> : run_match<std::uint32_t, EveryLane>);
}

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
};

template <class Op, class T>
void run_redux(Warp& w, const Insn& in, std::uint32_t mask) {
    const T* a = operand<T>(w, in.a);
    const std::uint32_t members = members_of(w, in, mask);
    if (!members) return;
    T r = a[std::countr_zero(members)];
    for_active(members & (members - 1), [&](unsigned l) { r = Op::apply(r, a[l]); });
    for_lanes<false>(operand<T>(w, in.d), mask, [=](unsigned) { return r; });
}

template <class Op>
void decode_redux(InsnBuilder& b) {
    b.expect_operands(3, 3);
    b.skips_lanes();  // if its members include none of the executing lanes
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    collective(b, 2, 4, b.type() == ptx::Type::S32 ? run_redux<Op, std::int32_t> : run_redux<Op, std::uint32_t>);
}

void run_nothing(Warp&, const Insn&, std::uint32_t) {}
void decode_warp_sync(InsnBuilder& b) {
    b.expect_operands(1, 1);
    collective(b, 0, 0, run_nothing);
}

// elect.sync d|p: d is the lowest member, p is true only for it.
void run_elect(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t members = members_of(w, in, mask);
    const auto leader = static_cast<std::uint32_t>(std::countr_zero(members ? members : mask));
    for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, [=](unsigned) { return leader; });
    std::uint32_t& p = predicate(w, in.second);
    p = (p & ~mask) | (mask & (1u << leader));
}

void decode_elect(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const ptx::Operand& d = b.operand(0);
    if (d.kind != ptx::Operand::Kind::Pair || d.elements.size() != 2) b.refuse("needs a register and a predicate");
    b.out.d = d.elements[0].kind == ptx::Operand::Kind::None ? b.sink(4) : b.destination(d.elements[0], 4);
    b.out.second = b.predicate_destination(d.elements[1]);
    collective(b, 1, 0, run_elect);
}

constexpr OpcodeFacts together(std::string_view function = {}) {
    return {.ends = Terminator::Collective, .function = function};
}
constexpr OpcodeFacts shuffles(std::string_view function) {
    return {.flow = Flow::Carries, .ends = Terminator::Collective, .function = function};
}
constexpr OpcodeFacts syncwarp{.ends = Terminator::Collective, .orders_warp = true, .function = "__syncwarp()"};
constexpr OpcodeRow rows[] = {
    {"elect", "sync", "", "", "picks one lane", decode_elect, together()},
    {"bar", "warp sync", "", "", "waits for the lanes of the mask", decode_warp_sync, syncwarp},
    {"shfl", "sync up", "b32", "", "value of a lower lane", decode_shfl<Up>, shuffles("__shfl_up_sync()")},
    {"shfl", "sync down", "b32", "", "value of a higher lane", decode_shfl<Down>, shuffles("__shfl_down_sync()")},
    {"shfl", "sync bfly", "b32", "", "value of the lane with the number xor b", decode_shfl<Butterfly>,
     shuffles("__shfl_xor_sync()")},
    {"shfl", "sync idx", "b32", "", "value of the lane with number b", decode_shfl<Index>, shuffles("__shfl_sync()")},
    {"vote", "sync all", "pred", "", "does it hold in all lanes", decode_vote<All>, together("__all_sync()")},
    {"vote", "sync any", "pred", "", "does it hold in any lane", decode_vote<Any>, together("__any_sync()")},
    {"vote", "sync uni", "pred", "", "is it the same in all lanes", decode_vote<Uniform>, together()},
    {"vote", "sync ballot", "b32", "", "lanes in which it holds", decode_vote<Ballot>, together("__ballot_sync()")},
    {"match", "any sync", "b32 b64", "", "lanes with the same value", decode_match<false>,
     together("__match_any_sync()")},
    {"match", "all sync", "b32 b64", "", "do all lanes hold the same value", decode_match<true>,
     together("__match_all_sync()")},
    {"redux", "sync add", "u32 s32", "", "sum over lanes", decode_redux<Add>, together("__reduce_add_sync()")},
    {"redux", "sync min", "u32 s32", "", "smallest over lanes", decode_redux<Min>, together("__reduce_min_sync()")},
    {"redux", "sync max", "u32 s32", "", "largest over lanes", decode_redux<Max>, together("__reduce_max_sync()")},
    {"redux", "sync and", "b32", "", "and over lanes", decode_redux<And>, together("__reduce_and_sync()")},
    {"redux", "sync or", "b32", "", "or over lanes", decode_redux<Or>, together("__reduce_or_sync()")},
    {"redux", "sync xor", "b32", "", "exclusive or over lanes", decode_redux<Xor>, together("__reduce_xor_sync()")},
};

}  // namespace

std::span<const OpcodeRow> warp_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
