#include "vgpu/code/chains.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "vgpu/code/flow_graph.hpp"
#include "vgpu/code/machine_code.hpp"
#include "vgpu/code/value_flow.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr std::uint32_t loads_in_flight = 16;  // of a warp, measured on an H100 (tests/model/h100.md, "overlap")
// Loads of more registers than these do not move past more than two dozen instructions that wait for loads (counted in
// machine code of sums of forces, where two loads of four are in flight).
constexpr std::uint32_t moved_far_at_most = 8;
constexpr std::uint32_t none = ValueFlow::none;

bool is_store(StatKind kind) { return kind == StatKind::GlobalStore || kind == StatKind::SharedStore; }

// Instructions that make of the value of the turn before one that lies anywhere; without a loop, so many of them. An
// index in three dimensions takes one less, and mul.wide makes an address of it.
bool mixes(const ptx::Instruction& in) {
    return (in.opcode == "mul" && (in.modifiers.empty() || in.modifiers.front() != "wide")) || in.opcode == "mad" ||
           in.opcode == "xor" || in.opcode == "rem";
}
constexpr std::uint32_t mixed_enough = 3;

std::vector<std::uint32_t> loads_of(const Code& code, const FunctionView& view) {
    std::vector<std::uint32_t> loads;
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot)
        if (brings_a_value(code.stat_kinds[slot]) && view.registers().contains(code.stat_insns[slot]))
            loads.push_back(code.stat_insns[slot]);
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    return loads;
}

// By register: whether its value lies anywhere, since data or chance decide it.
std::vector<bool> find_anywhere(const FunctionView& view, const ValueFlow& data,
                                const std::vector<std::uint32_t>& cycles, const std::vector<std::uint32_t>& loads) {
    std::vector<std::uint32_t> seeds;
    std::map<std::uint32_t, std::uint32_t> mixed;  // by register: how often, outside of loops
    for (const auto& [insn, all] : view.registers()) {
        const ptx::Instruction* in = view.source_of(insn);
        const bool is_load = std::ranges::binary_search(loads, insn), mixing = in && mixes(*in);
        std::uint32_t times = 0;
        for (const std::uint32_t from : all.read)
            if (const auto known = mixed.find(from); known != mixed.end()) times = std::max(times, known->second);
        times += mixing ? 1 : 0;
        for (const std::uint32_t to : all.written) {
            mixed[to] = std::min(times, mixed_enough);
            if (to >= cycles.size() || cycles[to] == none ? is_load || times >= mixed_enough : mixing)
                seeds.push_back(to);
        }
    }
    return data.behind(std::move(seeds), cycles);
}

// The loads of a stretch of code that are in flight beside each other.
class Flights {
  public:
    // An instruction that reads these registers; `waits`: for some load.
    void use(const std::vector<std::uint32_t>& read, bool waits) {
        waiting_ += waits ? 1 : 0;
        for (const std::uint32_t reg : read)
            if (const auto known = brought_.find(reg); known != brought_.end()) {
                Flight& flight = *known->second.first;
                if (flight.head == known->second.second) flight.use = std::min(flight.use, waiting_);
            }
    }
    // A load that waits for so many others, and the first one beside which it is in flight. Sides are blocks that a
    // predicate guards; all else has side 0, and its loads are on their way at the same time as those of the sides.
    std::uint32_t add(std::uint32_t insn, bool shared, std::uint32_t side, std::uint32_t waits,
                      const std::vector<std::uint32_t>& written) {
        const std::uint32_t with = at_once_.contains({shared, 0, waits}) ? 0 : side;
        Flight& flight = at_once_[{shared, with, waits}];
        const bool is_far =
            flight.registers >= moved_far_at_most && flight.use != none && waiting_ - flight.use > moved_past_at_most;
        if (flight.head == none || flight.count - flight.before == loads_in_flight || is_far)
            flight = {insn, flight.count, flight.count};
        ++flight.count;
        flight.registers += static_cast<std::uint32_t>(written.size());
        for (const std::uint32_t to : written) brought_[to] = {&flight, flight.head};
        return flight.head;
    }
    // How many of one memory wait for equally many others.
    [[nodiscard]] std::uint32_t most() const {
        std::uint32_t most = 1;
        for (const auto& [key, flight] : at_once_) most = std::max(most, flight.count);
        return most;
    }

  private:
    // before: loads of earlier flights; use: the first instruction that waits for one of its loads.
    struct Flight {
        std::uint32_t head = none, before = 0, count = 0, use = none, registers = 0;
    };
    std::uint32_t waiting_ = 0;  // instructions that wait for loads, up to now
    // By memory (shared or not), side, and how many loads they wait for.
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, Flight> at_once_;
    std::map<std::uint32_t, std::pair<Flight*, std::uint32_t>> brought_;  // by register: in which one, with this head
};

// What is known where a stretch of code has been read up to.
struct Stretch {
    using ByRegister = std::map<std::uint32_t, std::uint32_t>;
    ByRegister chained, all;  // by register: how many of those loads, and of all loads, its value waits for
    // By cycle and side: how many loads are listed.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> listed;
    Flights flights;
    // How many loads that wait for each other its stores wait for, and its quotients: nothing moves past a slow path.
    StoresBefore stores;
    std::uint32_t behind_slow_path = 0;
    // A predicate for which the blocks of a stretch wait up to one of them, by how many loads that itself waits for.
    struct Guard {
        std::uint32_t until = 0, chained = 0, all = 0;
    } guard;

    static std::uint32_t deepest(const ByRegister& before, const std::vector<std::uint32_t>& read) {
        std::uint32_t most = 0;
        for (const std::uint32_t reg : read)
            if (const auto known = before.find(reg); known != before.end()) most = std::max(most, known->second);
        return most;
    }
};

}  // namespace

bool brings_a_value(StatKind kind) {
    switch (kind) {
        case StatKind::GlobalLoad:
        case StatKind::LocalLoad:
        case StatKind::SharedLoad:
        case StatKind::GlobalAtomic:
        case StatKind::SharedAtomic:
        case StatKind::TextureLoad:
        case StatKind::SurfaceLoad:
            return true;
        default:
            return false;
    }
}

bool is_of_shared_memory(StatKind load) { return load == StatKind::SharedLoad || load == StatKind::SharedAtomic; }

LoadWait wait_of(const Code& code, std::uint32_t insn) {
    const auto wait = std::ranges::lower_bound(code.load_waits, insn, {}, &LoadWait::insn);
    return wait != code.load_waits.end() && wait->insn == insn ? *wait : LoadWait{insn, insn, 0};
}

LoopLoads find_loop_loads(const Code& code, const FunctionView& view) {
    const std::vector<std::uint32_t> loads = loads_of(code, view);
    if (loads.empty()) return {};
    ValueFlow data;
    data.add_instructions(view);
    ValueFlow flow = data;
    flow.add_branches(code, view);
    if (flow.is_too_large()) return {};
    const std::vector<std::uint32_t> cycles = flow.cycles();
    const auto cycle_of = [&](std::uint32_t reg) { return reg < cycles.size() ? cycles[reg] : none; };
    const std::vector<bool> anywhere = find_anywhere(view, data, cycles, loads);
    std::map<std::uint32_t, StatKind> kinds;  // by instruction
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot)
        kinds.emplace(code.stat_insns[slot], code.stat_kinds[slot]);

    LoopLoads found;
    Stretch stretch;
    std::size_t first_wait = 0;  // of this stretch in found.waits
    std::uint32_t block = none;
    // No more than so many loads are in flight, of however many turns.
    const auto finish_stretch = [&] {
        const std::uint32_t most = stretch.flights.most();
        for (; first_wait < found.waits.size(); ++first_wait) {
            LoadWait& wait = found.waits[first_wait];
            if (wait.head == wait.insn) wait.turns = std::clamp(loads_in_flight / most, 1u, code.blocks[block].turns);
        }
    };
    for (const auto& [insn, all] : view.registers()) {
        const std::uint32_t part = block_of(code, insn);
        if (const std::uint32_t here = code.blocks[part].stretch; here != block) {
            finish_stretch();
            stretch = {};
            block = here;
        }
        if (part >= stretch.guard.until) stretch.guard = {};
        const std::uint32_t side = stretch.guard.until > 0 ? part : 0;
        std::uint32_t waits = std::max(Stretch::deepest(stretch.chained, all.read), stretch.guard.chained),
                      all_waits = std::max(Stretch::deepest(stretch.all, all.read), stretch.guard.all);
        if (insn == code.blocks[part].end && code.blocks[part].predicated_until > 0)
            stretch.guard = {code.blocks[part].predicated_until, waits, all_waits};
        stretch.flights.use(all.read, all_waits > 0);
        const auto kind = kinds.find(insn);
        const ptx::Instruction* in = view.source_of(insn);
        if (in && kind != kinds.end() && is_store(kind->second)) stretch.stores.add(*in, all_waits);
        if (in && has_slow_path(*in)) stretch.behind_slow_path = std::max(stretch.behind_slow_path, all_waits);
        if (std::ranges::binary_search(loads, insn)) {
            bool is_irregular = std::ranges::any_of(
                all.read, [&](std::uint32_t from) { return from < anywhere.size() && anywhere[from]; });
            for (const std::uint32_t to : all.written) {
                const std::uint32_t cycle = cycle_of(to);
                const bool is_chained = cycle != none && std::ranges::any_of(all.read, [&](std::uint32_t from) {
                                            return cycle_of(from) == cycle;
                                        });
                if (!is_chained) continue;
                is_irregular = true;
                std::uint32_t& listed = stretch.listed[{cycle, side}];
                ++waits;
                if (waits > std::max(listed, stretch.listed[{cycle, 0}])) {
                    listed = waits;
                    found.chained.push_back(insn);
                }
                break;
            }
            if (is_irregular) found.irregular.push_back(insn);
            const auto stored = in ? static_cast<std::uint32_t>(stretch.stores.of(*in)) : 0;
            all_waits = std::max({all_waits, stored, stretch.behind_slow_path}) + 1;
            const bool shared = is_of_shared_memory(kind->second);
            found.waits.push_back({insn, stretch.flights.add(insn, shared, side, all_waits, all.written), 0});
        }
        for (const std::uint32_t to : all.written) stretch.chained[to] = waits, stretch.all[to] = all_waits;
    }
    finish_stretch();
    return found;
}

}  // namespace warpgrade::vgpu
