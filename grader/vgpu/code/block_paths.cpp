#include "vgpu/code/block_paths.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "vgpu/code/machine_code.hpp"
#include "vgpu/code/machine_cost.hpp"
#include "vgpu/ptx/names.hpp"

namespace warpgrade::vgpu {
namespace {

// ptxas unrolls short loops that count by a constant and store nothing, which nvcc has unrolled before as often.
constexpr std::uint32_t turns_at_once = 4, most_unrolled = 45;

// In quarters of the latency of an addition, measured on an H100 (tests/model/h100.md, "overlap"): half of what ptxas
// adds to an instruction waits for the rest of it; a root takes seven additions, half of them for a conversion; lanes
// exchange values in six; and a jump back costs two.
constexpr std::uint64_t addition = 4, further = 2, special_half = 14, exchange = 20, double_more = 4, jump = 16,
                        constant = 36;
constexpr std::uint64_t issue = 1, forward = 16;

// Loads, and shifts that ptxas makes part of a sum or an address, take none.
std::uint64_t latency(const ptx::Instruction& in, const MachineCost& cost) {
    if (in.opcode == "ld" && in.modifiers.front() == "const" && in.operands.back().reg != ptx::Operand::no_register)
        return constant;
    if (cost.moves > 0 || in.opcode == "ld" || in.opcode == "shl") return 0;
    return addition + cost.further * further + cost.special_halves * special_half + cost.exchanges * exchange +
           (cost.doubles > 0 ? double_more : 0);
}

struct Step {
    const Registers* registers = nullptr;
    std::uint64_t latency = 0;
    bool has_branch = false;  // in machine code: nothing moves past it
    const ptx::Instruction* source = nullptr;
};

// True if ptxas can unroll these instructions, a loop of its own: its counter grows by a constant, and no pragma
// forbids it.
bool counts(const FunctionView& view, std::uint32_t begin, std::uint32_t end) {
    const ptx::Instruction *first = view.source_of(begin), *last = view.source_of(end);
    if (first == nullptr || last == nullptr) return false;
    const auto position = static_cast<std::size_t>(first - view.source().body.data());
    if (std::ranges::binary_search(view.source().nounroll, position)) return false;
    if (std::any_of(first, last, [](const ptx::Instruction& in) { return in.opcode == "st"; })) return false;
    std::set<std::uint32_t> deciding = {last->guard};
    for (const ptx::Instruction* in = last; in-- > first;) {
        if (in->operands.empty() || !deciding.contains(in->operands[0].reg)) continue;
        if (in->opcode == "add" && in->operands.size() == 3)
            return in->operands[2].kind == ptx::Operand::Kind::Immediate;
        if (in->opcode != "setp" && in->opcode != "cvt") return false;
        for (const ptx::Operand& operand : in->operands)
            if (operand.kind == ptx::Operand::Kind::Register) deciding.insert(operand.reg);
    }
    return false;
}

// Runs the steps, in the best order, once their registers are ready, and returns when the last one starts.
std::uint64_t run(const std::vector<const Step*>& steps, std::map<std::uint32_t, std::uint64_t>& ready) {
    std::uint64_t end = 0, barrier = 0;
    StoresBefore stores;
    std::vector<std::uint64_t> starts;
    for (const Step* step : steps) {
        std::uint64_t start = starts.size() < moved_past_at_most
                                  ? barrier
                                  : std::max(barrier, starts[starts.size() - moved_past_at_most]);
        if (step->has_branch) start = std::max(start, end);
        for (const std::uint32_t reg : step->registers->read)
            if (const auto known = ready.find(reg); known != ready.end()) start = std::max(start, known->second);
        if (step->source && is_global(*step->source, "ld")) start = std::max(start, stores.of(*step->source));
        if (step->source && is_global(*step->source, "st")) stores.add(*step->source, start);
        for (const std::uint32_t reg : step->registers->written) ready[reg] = start + step->latency;
        if (step->has_branch) barrier = start + step->latency;
        starts.push_back(start);
        end = std::max(end, start);
    }
    return end;
}

}  // namespace

void find_block_paths(Code& code, const FunctionView& view) {
    const FunctionCode& function = view.function();
    const std::vector<MachineCost> costs = machine_costs(view.source());
    std::map<std::uint32_t, Step> steps;  // by instruction
    for (const auto& [insn, all] : view.registers()) {
        const ptx::Instruction* in = view.source_of(insn);
        steps[insn] = in == nullptr
                          ? Step{&all}
                          : Step{&all, latency(*in, costs[static_cast<std::size_t>(in - view.source().body.data())]),
                                 has_slow_path(*in), in};
    }
    for (std::uint32_t first = function.first_block, last = first; first < function.end_block; first = ++last) {
        BasicBlock& block = code.blocks[first];
        while (last + 1 < function.end_block && code.blocks[last + 1].stretch == first) ++last;
        const BasicBlock& tail = code.blocks[last];
        std::vector<const Step*> all;
        std::uint32_t size = 0;
        for (std::uint32_t b = first; b <= last; ++b) size += code.blocks[b].size;
        const auto end = steps.upper_bound(tail.terminator == Terminator::Fall ? tail.end - 1 : tail.end);
        for (auto step = steps.lower_bound(block.begin); step != end && size > 0; ++step) all.push_back(&step->second);
        const bool jumps_back = tail.terminator == Terminator::Branch && tail.target <= last;
        const bool is_loop = jumps_back && tail.conditional && tail.target == first;
        const std::uint32_t turns =
            is_loop && size <= most_unrolled && counts(view, block.begin, tail.end) ? turns_at_once : 1;
        // A loop's third time is as long as all further ones. What comes behind other blocks waits for their results.
        std::map<std::uint32_t, std::uint64_t> ready;
        std::uint64_t path = 0;
        for (int time = 0; time < (is_loop ? 3 : 1); ++time) {
            for (auto& [reg, when] : ready) when -= std::min(when, path);
            path = 0;
            for (std::uint32_t turn = 0; turn < turns; ++turn) path = std::max(path, run(all, ready));
        }
        if (!is_loop)
            for (const auto& [reg, when] : ready) path = std::max(path, when);
        for (std::uint32_t b = first; b <= last; ++b) code.blocks[b].turns = turns;
        const bool branches = tail.terminator == Terminator::Branch && tail.predicated_until == 0;
        block.path = std::max(path, turns * size * issue) + (jumps_back ? jump : branches ? forward : 0);
    }
}

}  // namespace warpgrade::vgpu
