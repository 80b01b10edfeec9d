// Asynchronous copies and mbarriers. A copy is made when it is issued, which PTX allows, so it is complete by the time
// anything waits for it.
#include <cstring>

#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {
namespace {

using ptx::Space;

// Bits of Insn::form.
namespace form {
constexpr std::uint16_t narrow_to = 1, narrow_from = 2, sized = 4;  // 32-bit addresses; a source size is given
constexpr std::uint16_t generic = 8, ignored_state = 16;
constexpr unsigned kind_shift = 8;
}  // namespace form

struct Staged {
    alignas(16) std::byte bytes[warp_size][16];
    std::uint32_t undefined = 0;  // lanes
};

void load_staged(Warp& w, const Insn& in, const Access& x, unsigned bytes, Staged& staged, unsigned at = 0) {
    perform_access<Op::Load, Space::Global>(w, in, in.memory_slot, x, bytes,
                                            [&](std::byte* origin, const Access& part) {
                                                for_active(part.mask, [&](unsigned l) {
                                                    std::memcpy(staged.bytes[l] + at,
                                                                host_place(origin, part.address[l]), bytes);
                                                });
                                            },
                                            {.copies = 1});
    staged.undefined |= w.watch.loaded.lanes[0];
    if (w.watch.loaded.any()) w.watch.stored_origin = w.watch.loaded.origin;
    w.watch.loaded = {};
}

void store_staged(Warp& w, const Insn& in, const Access& x, unsigned bytes, const Staged& staged) {
    const StoredUndefined undefined{{staged.undefined}};
    perform_access<Op::Store, Space::Shared>(
        w, in, in.memory_slot + 1, x, bytes,
        [&](std::byte* origin, const Access& part) {
            for_active(part.mask,
                       [&](unsigned l) { std::memcpy(host_place(origin, part.address[l]), staged.bytes[l], bytes); });
        },
        {.undefined = staged.undefined ? &undefined : nullptr});
}

// A copy is in progress after its instruction: no thread may access its target until the copying thread has waited for
// it. Bytes that were undefined at the source are undefined at the target.
void begin_copy(Warp& w, const Insn& in, const Access& to, unsigned bytes, std::uint32_t undefined) {
    if (!(w.block->watch.shared & BlockWatch::Marks)) return;
    SharedMarks& marks = w.block->watch.marks;
    for_active(to.mask & ~undefined, [&](unsigned l) {
        const std::uint64_t first = to.address[l] >> marks.shift;
        const auto count = static_cast<std::uint32_t>(bytes >> marks.shift);
        for (std::uint64_t g = first; g < first + count; ++g)
            marks.writes[g] = mark::in_progress | mark::of_site(in.memory_slot) | Mark{w.index} << 5 | l;
        w.watch.copies.push_back({first, count, l, w.watch.copy_group});
    });
}

// Ends the copies of groups before number `group`.
void end_copies(Warp& w, std::uint32_t group) {
    if (w.watch.copies.empty()) return;
    SharedMarks& marks = w.block->watch.marks;
    for (const PendingCopy& c : w.watch.copies) {
        if (c.group >= group) continue;
        for (std::uint64_t g = c.granule; g < c.granule + c.count; ++g) {
            Mark& m = marks.writes[g];
            if (mark::time_of(m) == mark::time_of(mark::in_progress) &&
                mark::thread_of(m) == w.index * warp_size + c.lane)
                m = mark::at_time(w.executor->watch.now) | (m & ~mark::in_progress);
        }
    }
    std::erase_if(w.watch.copies, [&](const PendingCopy& c) { return c.group < group; });
}

// cp.async [a] shared ← [b] global; c: the source size, if given.
void run_copy(Warp& w, const Insn& in, std::uint32_t mask) {
    const unsigned bytes = in.form >> form::kind_shift;
    Access to;
    collect_lanes(w, to, in.a, in.two_offsets().to, in.form & form::narrow_to, mask, bytes);
    Staged staged{};
    std::uint32_t whole = mask;
    if (in.form & form::sized) {
        const auto* size = operand<std::uint32_t>(w, in.c);
        whole &= ballot([=](unsigned l) { return size[l] >= bytes; });
        // Lanes that copy fewer bytes and fill the rest with zeros go byte by byte, since their alignment is unknown.
        for_active(mask & ~whole, [&](unsigned l) {
            for (unsigned i = 0; i < size[l]; ++i) {
                Access one;
                collect_lanes(w, one, in.b, std::int64_t{in.two_offsets().from} + i, false, 1u << l, 1);
                load_staged(w, in, one, 1, staged, i);
            }
        });
    }
    if (whole) {
        Access from;
        collect_lanes(w, from, in.b, in.two_offsets().from, false, whole, bytes);
        load_staged(w, in, from, bytes, staged);
    }
    store_staged(w, in, to, bytes, staged);
    begin_copy(w, in, to, bytes, staged.undefined);
}

const ptx::Operand& address_operand(InsnBuilder& b, std::size_t index) {
    const ptx::Operand& o = b.operand(index);
    if (o.kind != ptx::Operand::Kind::Address) b.refuse("needs an address in brackets");
    return o;
}

// Decodes the places of a shared and a global address. b.address() fills out.a and out.offset, from which both offsets
// are made.
void decode_two_addresses(InsnBuilder& b, std::size_t to, std::size_t from) {
    b.address(address_operand(b, from), Space::Global, 0);
    b.out.b = b.out.a;
    const std::int64_t from_offset = b.out.offset;
    b.address(address_operand(b, to), Space::Shared, form::narrow_to);
    const auto fits_word = [](std::int64_t v) { return v == static_cast<std::int32_t>(v); };
    if (!fits_word(from_offset) || !fits_word(b.out.offset)) b.refuse("an address's offset is too large");
    b.out.set_two_offsets({static_cast<std::int32_t>(b.out.offset), static_cast<std::int32_t>(from_offset)});
    b.out.memory_slot = b.function.statistics(Space::Global, AccessClass::Load);
    b.function.statistics(Space::Shared, AccessClass::Store);
}

void decode_copy(InsnBuilder& b) {
    b.expect_operands(3, 4);
    const ptx::Operand& size = b.operand(2);
    if (size.kind != ptx::Operand::Kind::Immediate || (size.imm != 4 && size.imm != 8 && size.imm != 16))
        b.refuse("copies 4, 8 or 16 bytes");
    decode_two_addresses(b, 0, 1);
    b.out.form |= static_cast<std::uint16_t>(size.imm << form::kind_shift);
    if (b.operand_count() == 4) {
        b.out.c = b.source(3, ptx::Type::U32);
        b.out.form |= form::sized;
    }
    b.handlers({run_copy, run_copy});
}

// Our layout of an mbarrier, which PTX leaves open. A phase ends when no arrivals are pending and no bytes are
// expected.
struct Mbarrier {
    static constexpr std::uint64_t count_mask = (1u << 20) - 1;
    std::uint32_t pending = 0, expected = 0;
    std::int32_t bytes = 0;  // still expected, or arrived too early
    bool phase = false;

    static Mbarrier unpack(std::uint64_t v) {
        Mbarrier m;
        m.pending = static_cast<std::uint32_t>(v & count_mask);
        m.expected = static_cast<std::uint32_t>((v >> 20) & count_mask);
        m.bytes = static_cast<std::int32_t>(static_cast<std::uint32_t>(v >> 40) << 9) >> 9;  // 23 bits, signed
        m.phase = v >> 63;
        return m;
    }
    [[nodiscard]] std::uint64_t pack() const {
        return pending | (std::uint64_t{expected} << 20) | ((static_cast<std::uint64_t>(bytes) & 0x7fffff) << 40) |
               (std::uint64_t{phase} << 63);
    }
    void complete_if_done() {
        if (pending != 0 || bytes != 0) return;
        phase = !phase;
        pending = expected;
    }
};

enum class Action : std::uint16_t {
    Init,
    Invalidate,
    Arrive,
    ArriveDrop,
    ArriveExpect,
    Expect,
    Complete,
    Test,
    Parity
};

// Calls f(lane, host address) for each lane's mbarrier, in lane order. a: address, b: count, bytes or state.
template <class F>
void for_barriers(Warp& w, const Insn& in, std::uint32_t mask, F&& f, bool overwrites = false) {
    ++w.sync_operations;  // a polling thread lets others run
    Access x;
    collect_lanes(w, x, in.a, in.offset, in.form & form::narrow_to, mask, 8);
    const auto shared = [&](const Access& part) {
        AccessTraits how;
        how.kind = mark::atomic;
        how.overwrites = overwrites;
        resolve_shared<Op::Atomic>(
            w, in, part, 8,
            [&](std::byte* origin, const Access& lanes) {
                for_active(lanes.mask, [&](unsigned l) { f(l, host_place(origin, lanes.address[l])); });
            },
            how);
        count(w, in.memory_slot, 1);
    };
    if (!(in.form & form::generic)) return shared(x);
    split_generic(x, 8, [&](Space space, const Access& part) {
        if (space != Space::Shared) raise_access(w, in, part, space, Op::Atomic, 8);
        shared(part);
    });
}

void run_mbarrier(Warp& w, const Insn& in, std::uint32_t mask) {
    const auto action = static_cast<Action>(in.form >> form::kind_shift);
    const auto* amount = operand<std::uint32_t>(w, in.b);
    auto* state = operand<std::uint64_t>(w, in.d);
    for_barriers(
        w, in, mask,
        [&](unsigned l, std::byte* at) {
            std::uint64_t word;
            std::memcpy(&word, at, sizeof word);
            Mbarrier m = Mbarrier::unpack(word);
            const auto arrive = [&](std::uint32_t count) {
                m.pending = count > m.pending ? 0 : m.pending - count;
                if (!(in.form & form::ignored_state)) state[l] = word;
                m.complete_if_done();
            };
            switch (action) {
                case Action::Init:
                    m = {};
                    m.pending = m.expected = amount[l] & Mbarrier::count_mask;
                    break;
                case Action::Invalidate:
                    m = {};
                    break;
                case Action::Arrive:
                    arrive(amount[l]);
                    break;
                case Action::ArriveDrop:
                    m.expected = amount[l] > m.expected ? 0 : m.expected - amount[l];
                    arrive(amount[l]);
                    break;
                case Action::ArriveExpect:
                    m.bytes += static_cast<std::int32_t>(amount[l] & 0xfffff);
                    arrive(1);
                    break;
                case Action::Expect:
                    m.bytes += static_cast<std::int32_t>(amount[l] & 0xfffff);
                    break;
                default:  // Complete
                    m.bytes -= static_cast<std::int32_t>(amount[l] & 0xfffff);
                    m.complete_if_done();
                    break;
            }
            word = m.pack();
            std::memcpy(at, &word, sizeof word);
        },
        action == Action::Init);
}

// Tests whether the phase has ended that a state or a parity names.
void run_test(Warp& w, const Insn& in, std::uint32_t mask) {
    const bool parity = static_cast<Action>(in.form >> form::kind_shift) == Action::Parity;
    std::uint32_t done = 0;
    for_barriers(w, in, mask, [&](unsigned l, std::byte* at) {
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        const bool asked = parity ? operand<std::uint32_t>(w, in.b)[l] & 1
                                  : Mbarrier::unpack(operand<std::uint64_t>(w, in.b)[l]).phase;
        done |= std::uint32_t{Mbarrier::unpack(word).phase != asked} << l;
    });
    std::uint32_t& p = predicate(w, in.d);
    p = (p & ~mask) | done;
    if (done && w.executor->watch.values) order_after_everything(w);
    // Hardware lets a warp sleep that waits here, so its turn ends: waiting is not work.
    if (done != mask) w.sync_operations += warp_turn;
}

void decode_barrier_address(InsnBuilder& b, const ptx::Operand& address, Action action) {
    bool shared = false;
    for (const auto& m : b.in.modifiers) shared |= m.starts_with("shared");
    b.address(address, shared ? Space::Shared : Space::Generic, form::narrow_to);
    b.out.form |=
        static_cast<std::uint16_t>((shared ? 0 : form::generic) | (static_cast<unsigned>(action) << form::kind_shift));
    b.out.memory_slot = b.function.statistics(Space::Shared, AccessClass::Atomic);
}

template <Action A>
void decode_mbarrier(InsnBuilder& b) {
    const bool first_is_address = b.operand(0).kind == ptx::Operand::Kind::Address;
    constexpr bool arrives = A == Action::Arrive || A == Action::ArriveDrop || A == Action::ArriveExpect;
    const std::size_t at = first_is_address ? 0 : 1;
    if (!first_is_address && !arrives) b.refuse("needs an address in brackets");
    constexpr bool with_amount = A != Action::Invalidate && A != Action::Arrive && A != Action::ArriveDrop;
    b.expect_operands(at + 1 + with_amount, at + (A == Action::Invalidate ? 1 : 2));
    const bool ignored = first_is_address || b.operand(0).kind == ptx::Operand::Kind::None;
    b.out.d = ignored ? b.sink(8) : b.destination(0, 8);
    b.out.b = b.operand_count() > at + 1 ? b.source(at + 1, ptx::Type::U32) : b.constant(1, 4);
    if (ignored) b.out.form |= form::ignored_state;
    decode_barrier_address(b, address_operand(b, at), A);
    b.handlers({run_mbarrier, run_mbarrier});
}

template <Action A>
void decode_test(InsnBuilder& b) {
    b.expect_operands(3, 4);  // try_wait may have a time limit; here it never sleeps
    b.out.d = b.predicate_destination(b.operand(0));
    b.out.b = b.source(2, A == Action::Parity ? ptx::Type::U32 : ptx::Type::B64);
    decode_barrier_address(b, address_operand(b, 1), A);
    b.handlers({run_test, run_test});
}

struct PendingCount {
    static std::uint32_t apply(std::uint64_t state) { return Mbarrier::unpack(state).pending; }
};
void decode_pending_count(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B64);
    b.handlers(Unary<PendingCount, std::uint32_t, std::uint64_t>::handlers);
}

void run_commit(Warp& w, const Insn&, std::uint32_t) { ++w.watch.copy_group; }
void decode_commit(InsnBuilder& b) { b.handlers({run_commit, run_commit}); }

// value: the number of latest groups that may still be open.
void run_wait(Warp& w, const Insn& in, std::uint32_t) {
    const std::uint64_t open = in.value;
    end_copies(w, open >= w.watch.copy_group ? 0 : w.watch.copy_group - static_cast<std::uint32_t>(open));
}
void decode_wait(InsnBuilder& b) {
    b.expect_operands(1, 1);
    if (b.operand(0).kind != ptx::Operand::Kind::Immediate) b.refuse("waits for a number of groups");
    b.out.value = b.operand(0).imm;
    b.handlers({run_wait, run_wait});
}
void run_wait_all(Warp& w, const Insn&, std::uint32_t) { end_copies(w, ~0u); }
void decode_wait_all(InsnBuilder& b) { b.handlers({run_wait_all, run_wait_all}); }

// Waiting at the mbarrier shows that the copies have arrived, so they count as done from here.
void run_copy_arrive(Warp& w, const Insn& in, std::uint32_t mask) {
    end_copies(w, ~0u);
    run_mbarrier(w, in, mask);
}

// The copies before it are already done, so the barrier would count one more expected arrival and one arrival.
void decode_copy_arrive(InsnBuilder& b) {
    b.expect_operands(1, 1);
    if (b.has("noinc")) {
        decode_mbarrier<Action::Arrive>(b);
        return b.handlers({run_copy_arrive, run_copy_arrive});
    }
    b.out.b = b.constant(0, 4);
    b.out.d = b.sink(8);
    b.out.form |= form::ignored_state;
    decode_barrier_address(b, address_operand(b, 0), Action::Expect);
    b.handlers({run_copy_arrive, run_copy_arrive});  // adds no bytes: checks the address
}

// cp.async.bulk: each active lane copies c bytes, 16 at a time. Then the bytes arrive at `barrier`.
void run_bulk_copy(Warp& w, const Insn& in, std::uint32_t mask) {
    const auto* bytes = operand<std::uint32_t>(w, in.c);
    for_active(mask, [&](unsigned l) {
        for (std::uint32_t at = 0; at < bytes[l]; at += 16) {
            Access to, from;
            collect_lanes(w, to, in.a, std::int64_t{in.two_offsets().to} + at, in.form & form::narrow_to, 1u << l, 16);
            collect_lanes(w, from, in.b, std::int64_t{in.two_offsets().from} + at, false, 1u << l, 16);
            Staged staged;
            load_staged(w, in, from, 16, staged);
            store_staged(w, in, to, 16, staged);
        }
    });
    Insn complete = in;
    complete.a = in.barrier;
    complete.b = in.c;
    complete.offset = 0;
    complete.memory_slot = in.memory_slot + 1;
    complete.form = static_cast<std::uint16_t>((in.form & form::narrow_from ? form::narrow_to : 0) |
                                               (static_cast<unsigned>(Action::Complete) << form::kind_shift));
    run_mbarrier(w, complete, mask);
}

void decode_bulk_copy(InsnBuilder& b) {
    b.expect_operands(4, 4);
    const ptx::Operand& barrier = address_operand(b, 3);
    if (barrier.offset != 0) b.refuse("an offset in the mbarrier's address is not supported");
    b.address(barrier, Space::Shared, form::narrow_from);
    b.out.barrier = b.out.a;
    decode_two_addresses(b, 0, 1);
    b.out.c = b.source(2, ptx::Type::U32);
    b.handlers({run_bulk_copy, run_bulk_copy});
}

constexpr std::string_view where = "shared shared::cta shared::cluster relaxed acquire release cta cluster";
constexpr OpcodeFacts copies{.granule = 4};  // bytes; a copy with a source size may read fewer
constexpr OpcodeFacts on_barrier{.granule = sizeof(std::uint64_t)};
constexpr OpcodeRow rows[] = {
    {"cp", "async ca", "", "shared shared::cta global L2::64B L2::128B L2::256B", "copies to shared memory",
     decode_copy, copies},
    {"cp", "async cg", "", "shared shared::cta global L2::64B L2::128B L2::256B", "copies to shared memory",
     decode_copy, copies},
    {"cp", "async commit_group", "", "", "ends a group of copies (made already)", decode_commit},
    {"cp", "async wait_group", "", "", "waits for copies (made already)", decode_wait},
    {"cp", "async wait_all", "", "", "waits for copies (made already)", decode_wait_all},
    {"cp", "async mbarrier arrive", "b64", "noinc shared shared::cta", "copies arrive at an mbarrier",
     decode_copy_arrive, on_barrier},
    {"cp", "async bulk global mbarrier::complete_tx::bytes", "", "shared::cluster shared::cta",
     "copies a range to shared memory", decode_bulk_copy, on_barrier},
    {"mbarrier", "init", "b64", where, "makes an mbarrier for so many arrivals", decode_mbarrier<Action::Init>,
     on_barrier},
    {"mbarrier", "inval", "b64", where, "ends an mbarrier", decode_mbarrier<Action::Invalidate>, on_barrier},
    {"mbarrier", "arrive", "b64", "noComplete shared shared::cta shared::cluster relaxed acquire release cta cluster",
     "arrives; gives the phase's state", decode_mbarrier<Action::Arrive>, on_barrier},
    {"mbarrier", "arrive_drop", "b64",
     "noComplete shared shared::cta shared::cluster relaxed acquire release cta cluster", "arrives for the last time",
     decode_mbarrier<Action::ArriveDrop>, on_barrier},
    {"mbarrier", "arrive expect_tx", "b64", where, "expects bytes and arrives", decode_mbarrier<Action::ArriveExpect>,
     on_barrier},
    {"mbarrier", "expect_tx", "b64", where, "expects bytes", decode_mbarrier<Action::Expect>, on_barrier},
    {"mbarrier", "complete_tx", "b64", where, "bytes have arrived", decode_mbarrier<Action::Complete>, on_barrier},
    {"mbarrier", "test_wait", "b64", where, "has the state's phase ended", decode_test<Action::Test>, on_barrier},
    {"mbarrier", "test_wait parity", "b64", where, "has the phase of this parity ended", decode_test<Action::Parity>,
     on_barrier},
    {"mbarrier", "try_wait", "b64", where, "has the state's phase ended", decode_test<Action::Test>, on_barrier},
    {"mbarrier", "try_wait parity", "b64", where, "has the phase of this parity ended", decode_test<Action::Parity>,
     on_barrier},
    {"mbarrier", "pending_count", "b64", "", "pending arrivals of a state", decode_pending_count},
};

}  // namespace

std::span<const OpcodeRow> async_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
