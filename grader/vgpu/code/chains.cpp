#include "vgpu/code/chains.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "vgpu/code/flow_graph.hpp"
#include "vgpu/code/machine_code.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr std::size_t max_edges = std::size_t{1} << 20;
constexpr std::uint32_t max_blocks = 2048;
constexpr std::uint32_t loads_in_flight = 16;  // of a warp, measured on an H100 (tests/model/h100.md, "overlap")
// Loads of more registers than these do not move past more than two dozen instructions that wait for loads (counted in
// machine code of sums of forces, where two loads of four are in flight).
constexpr std::uint32_t moved_far_at_most = 8;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

bool is_store(StatKind kind) { return kind == StatKind::GlobalStore || kind == StatKind::SharedStore; }

struct Registers {
    std::vector<std::uint32_t> read, written;
};

// Which registers a register's value goes into.
class ValueFlow {
  public:
    void add(std::uint32_t from, std::uint32_t to) {
        const std::uint32_t most = std::max(from, to);
        if (most >= next_.size()) next_.resize(most + 1);
        next_[from].push_back(to);
        ++edges_;
    }
    [[nodiscard]] bool is_too_large() const { return edges_ > max_edges; }

    // The registers to which values of these go, without passing through a register on a cycle.
    [[nodiscard]] std::vector<bool> behind(std::vector<std::uint32_t> open,
                                           const std::vector<std::uint32_t>& cycles) const {
        std::vector<bool> found(std::max(next_.size(), cycles.size()));
        while (!open.empty()) {
            const std::uint32_t reg = open.back();
            open.pop_back();
            if (reg >= next_.size()) continue;
            for (const std::uint32_t to : next_[reg]) {
                if (found[to] || cycles[to] != none) continue;
                found[to] = true;
                open.push_back(to);
            }
        }
        return found;
    }

    // By register: the number of the cycle on which it lies, `none` if on none. Tarjan, "Depth-first search and linear
    // graph algorithms", with a stack of its own: hostile code may have long chains.
    [[nodiscard]] std::vector<std::uint32_t> cycles() const {
        const auto count = static_cast<std::uint32_t>(next_.size());
        std::vector<std::uint32_t> found(count, none), number(count, none), low(count), open;
        std::vector<bool> is_open(count);
        std::vector<std::pair<std::uint32_t, std::size_t>> path;
        std::uint32_t numbers = 0, components = 0;
        const auto enter = [&](std::uint32_t reg) {
            number[reg] = low[reg] = numbers++;
            open.push_back(reg);
            is_open[reg] = true;
            path.emplace_back(reg, 0);
        };
        for (std::uint32_t root = 0; root < count; ++root) {
            if (number[root] != none) continue;
            enter(root);
            while (!path.empty()) {
                const std::uint32_t reg = path.back().first;
                if (path.back().second < next_[reg].size()) {
                    const std::uint32_t to = next_[reg][path.back().second++];
                    if (number[to] == none)
                        enter(to);
                    else if (is_open[to])
                        low[reg] = std::min(low[reg], number[to]);
                    continue;
                }
                path.pop_back();
                if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[reg]);
                if (low[reg] != number[reg]) continue;
                const auto begin = std::ranges::find(open.rbegin(), open.rend(), reg).base() - 1;
                const bool is_cycle = open.end() - begin > 1 || std::ranges::find(next_[reg], reg) != next_[reg].end();
                for (auto member = begin; member != open.end(); ++member) {
                    is_open[*member] = false;
                    if (is_cycle) found[*member] = components;
                }
                ++components;
                open.erase(begin, open.end());
            }
        }
        return found;
    }

  private:
    std::vector<std::vector<std::uint32_t>> next_;
    std::size_t edges_ = 0;
};

// Instructions that make of the value of the turn before one that lies anywhere; without a loop, so many of them. An
// index in three dimensions takes one less, and mul.wide makes an address of it.
bool mixes(const ptx::Instruction& in) {
    return (in.opcode == "mul" && (in.modifiers.empty() || in.modifiers.front() != "wide")) || in.opcode == "mad" ||
           in.opcode == "xor" || in.opcode == "rem";
}
constexpr std::uint32_t mixed_enough = 3;

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

std::uint32_t turns_of_wait(const Code& code, std::uint32_t insn) {
    const auto wait = std::ranges::lower_bound(code.load_waits, insn, {}, &LoadWait::insn);
    return wait != code.load_waits.end() && wait->insn == insn && wait->head == insn ? wait->turns : 0;
}

std::uint32_t head_of_wait(const Code& code, std::uint32_t insn) {
    const auto wait = std::ranges::lower_bound(code.load_waits, insn, {}, &LoadWait::insn);
    return wait != code.load_waits.end() && wait->insn == insn ? wait->head : insn;
}

LoopLoads find_loop_loads(const Code& code, const FunctionCode& function, const ptx::Function& source,
                          const std::vector<RegisterAccess>& accesses) {
    std::map<std::uint32_t, Registers> registers;  // by instruction
    for (const RegisterAccess& access : accesses) {
        Registers& all = registers[access.insn];
        (access.kind == RegisterAccess::Kind::Read ? all.read : all.written).push_back(access.reg);
    }
    std::vector<std::uint32_t> loads;
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot)
        if (brings_a_value(code.stat_kinds[slot]) && registers.contains(code.stat_insns[slot]))
            loads.push_back(code.stat_insns[slot]);
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    if (loads.empty() || function.end_block - function.first_block > max_blocks) return {};

    ValueFlow data;
    for (const auto& [insn, all] : registers)
        for (const std::uint32_t from : all.read)
            for (const std::uint32_t to : all.written) {
                data.add(from, to);
                if (data.is_too_large()) return {};
            }
    ValueFlow flow = data;
    // A branch decides what is written before its sides meet again, but not what is the same constant on all ways.
    std::map<std::uint32_t, unsigned> writes;
    for (const auto& [insn, all] : registers)
        for (const std::uint32_t to : all.written) ++writes[to];
    const PostDominators meets(code, function);
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        const BasicBlock& block = code.blocks[b];
        const auto decides = registers.find(block.end);
        if (!(block.conditional || block.terminator == Terminator::BranchIndexed) || decides == registers.end())
            continue;
        for (const std::uint32_t behind : meets.region(b).first) {
            const BasicBlock& part = code.blocks[behind];
            const std::uint32_t past = part.end + (part.terminator == Terminator::Fall ? 0 : 1);
            const auto end = registers.lower_bound(past);
            for (auto insn = registers.lower_bound(part.begin); insn != end; ++insn)
                for (const std::uint32_t from : decides->second.read)
                    for (const std::uint32_t to : insn->second.written) {
                        if (insn->second.read.empty() && writes[to] == 1) continue;
                        flow.add(from, to);
                        if (flow.is_too_large()) return {};
                    }
        }
    }

    const std::vector<std::uint32_t> cycles = flow.cycles();
    const auto cycle_of = [&](std::uint32_t reg) { return reg < cycles.size() ? cycles[reg] : none; };
    std::map<std::uint32_t, const ptx::Instruction*> source_of_line;
    for (const ptx::Instruction& in : source.body) source_of_line.emplace(in.ptx_line, &in);
    const auto source_of = [&](std::uint32_t insn) -> const ptx::Instruction* {
        const auto in = source_of_line.find(code.ptx_lines[insn]);
        return in == source_of_line.end() ? nullptr : in->second;
    };
    std::map<std::uint32_t, StatKind> kinds;  // by instruction
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot)
        kinds.emplace(code.stat_insns[slot], code.stat_kinds[slot]);
    std::vector<std::uint32_t> seeds;
    std::map<std::uint32_t, std::uint32_t> mixed;  // by register: how often, outside of loops
    for (const auto& [insn, all] : registers) {
        const bool is_load = std::ranges::binary_search(loads, insn),
                   mixing = source_of(insn) && mixes(*source_of(insn));
        std::uint32_t times = 0;
        for (const std::uint32_t from : all.read)
            if (const auto known = mixed.find(from); known != mixed.end()) times = std::max(times, known->second);
        times += mixing ? 1 : 0;
        for (const std::uint32_t to : all.written) {
            mixed[to] = std::min(times, mixed_enough);
            if (cycle_of(to) == none ? is_load || times >= mixed_enough : mixing) seeds.push_back(to);
        }
    }
    const std::vector<bool> anywhere = data.behind(std::move(seeds), cycles);

    LoopLoads found;
    std::map<std::uint32_t, std::uint32_t> depth;  // by register: the loads of this block that it waits for
    // By cycle and side: the loads of this block that are listed. Sides are blocks of a stretch that a predicate
    // guards; all else has side 0, and its loads are on their way at the same time as those of the sides.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> chain_depth;
    std::map<std::uint32_t, std::uint32_t> loads_before;  // by register: the same, of all loads
    std::uint32_t waiting = 0;                            // instructions of this block that wait for loads, up to now
    // Loads of one memory in flight beside each other, and which of those is the first that uses what one of them
    // brings.
    struct Flight {
        std::uint32_t head = none, before = 0, count = 0, use = none, registers = 0;  // before: loads of earlier ones
    };
    // By memory (shared or not), side, and how many loads they wait for.
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, Flight> at_once;
    std::map<std::uint32_t, std::pair<Flight*, std::uint32_t>> brought;  // by register: in which one, with this head
    std::size_t first_wait = 0;                                          // of this block in found.waits
    std::uint32_t block = none;
    // How many loads that wait for each other its stores wait for, and its quotients: nothing moves past a slow path.
    StoresBefore stores;
    std::uint32_t behind_slow_path = 0;
    // A predicate for which the blocks of a stretch wait up to one of them, by how many loads that itself waits for.
    struct Guard {
        std::uint32_t until = 0, waits = 0, all_waits = 0;
    } guard;
    // No more than so many loads are in flight, of however many turns.
    const auto finish_block = [&] {
        std::uint32_t most = 1;
        for (const auto& [key, flight] : at_once) most = std::max(most, flight.count);
        for (; first_wait < found.waits.size(); ++first_wait)
            found.waits[first_wait].turns = std::clamp(loads_in_flight / most, 1u, code.blocks[block].turns);
    };
    auto load = loads.begin();
    for (const auto& [insn, all] : registers) {
        const std::uint32_t part = block_of(code, insn);
        if (const std::uint32_t here = code.blocks[part].stretch; here != block) {
            finish_block();
            depth.clear(), chain_depth.clear(), loads_before.clear(), at_once.clear(), brought.clear();
            waiting = 0;
            stores = {};
            behind_slow_path = 0;
            guard = {};
            block = here;
        }
        if (part >= guard.until) guard = {};
        const std::uint32_t side = guard.until > 0 ? part : 0;
        const auto deepest = [&read = all.read](const std::map<std::uint32_t, std::uint32_t>& before) {
            std::uint32_t most = 0;
            for (const std::uint32_t reg : read)
                if (const auto known = before.find(reg); known != before.end()) most = std::max(most, known->second);
            return most;
        };
        std::uint32_t waits = std::max(deepest(depth), guard.waits),
                      all_waits = std::max(deepest(loads_before), guard.all_waits);
        if (insn == code.blocks[part].end && code.blocks[part].predicated_until > 0)
            guard = {code.blocks[part].predicated_until, waits, all_waits};
        waiting += all_waits > 0 ? 1 : 0;
        for (const std::uint32_t reg : all.read)
            if (const auto known = brought.find(reg); known != brought.end()) {
                Flight& flight = *known->second.first;
                if (flight.head == known->second.second) flight.use = std::min(flight.use, waiting);
            }
        const auto kind = kinds.find(insn);
        const ptx::Instruction* in = source_of(insn);
        if (in && kind != kinds.end() && is_store(kind->second)) stores.add(*in, all_waits);
        if (in && has_slow_path(*in)) behind_slow_path = std::max(behind_slow_path, all_waits);
        while (load != loads.end() && *load < insn) ++load;
        if (load != loads.end() && *load == insn) {
            bool is_irregular = std::ranges::any_of(
                all.read, [&](std::uint32_t from) { return from < anywhere.size() && anywhere[from]; });
            for (const std::uint32_t to : all.written) {
                const std::uint32_t cycle = cycle_of(to);
                const bool is_chained = cycle != none && std::ranges::any_of(all.read, [&](std::uint32_t from) {
                                            return cycle_of(from) == cycle;
                                        });
                if (!is_chained) continue;
                is_irregular = true;
                std::uint32_t& listed = chain_depth[{cycle, side}];
                ++waits;
                if (waits > std::max(listed, chain_depth[{cycle, 0}])) {
                    listed = waits;
                    found.chained.push_back(insn);
                }
                break;
            }
            if (is_irregular) found.irregular.push_back(insn);
            const auto stored = in ? static_cast<std::uint32_t>(stores.of(*in)) : 0;
            all_waits = std::max({all_waits, stored, behind_slow_path}) + 1;
            const bool shared = is_of_shared_memory(kind->second);
            const std::uint32_t with = at_once.contains({shared, 0, all_waits}) ? 0 : side;
            Flight& flight = at_once[{shared, with, all_waits}];
            const bool is_far = flight.registers >= moved_far_at_most && flight.use != none &&
                                waiting - flight.use > moved_past_at_most;
            if (flight.head == none || flight.count - flight.before == loads_in_flight || is_far)
                flight = {insn, flight.count, flight.count};
            ++flight.count;
            flight.registers += static_cast<std::uint32_t>(all.written.size());
            for (const std::uint32_t to : all.written) brought[to] = {&flight, flight.head};
            found.waits.push_back({insn, flight.head, 1});  // turns: see finish_block
        }
        for (const std::uint32_t to : all.written) depth[to] = waits, loads_before[to] = all_waits;
    }
    finish_block();
    return found;
}

}  // namespace warpgrade::vgpu
