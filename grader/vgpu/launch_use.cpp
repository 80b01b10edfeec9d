// How a launch used memory and warps, by source line: what advice is made from.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "vgpu/advice.hpp"
#include "vgpu/grid.hpp"
#include "vgpu/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

struct BlockCount {
    std::uint64_t warps = 0, threads = 0, divergent = 0;
    [[nodiscard]] double average() const {
        return warps ? static_cast<double>(threads) / static_cast<double>(warps) : 0;
    }
};

// Bytes that a thread moves with a load or store; 0: it is none of the plain ones.
unsigned access_bytes(const ptx::Instruction& in) {
    if (in.opcode != "ld" && in.opcode != "ldu" && in.opcode != "st") return 0;
    unsigned elements = 1, bytes = 0;
    for (const std::string& m : in.modifiers) {
        if (m == "v2" || m == "v4") elements = m == "v2" ? 2 : 4;
        if (const auto type = parse_type(m); type != ptx::Type::None) bytes = ptx::size_of(type);
    }
    return elements * bytes;
}

const ptx::Instruction* instruction_at(const ptx::Module& module, const Code& code, std::uint32_t insn) {
    const std::uint32_t line = code.ptx_lines[insn];
    for (const FunctionCode& f : code.functions) {
        const ptx::Function* function = module.find_function(f.name);
        if (!function) continue;
        const auto at = std::ranges::lower_bound(function->body, line, {}, &ptx::Instruction::ptx_line);
        if (at != function->body.end() && at->ptx_line == line) return &*at;
    }
    return nullptr;
}

// Where the sides of a branch meet again, whatever they do: immediate post-dominators of one function's blocks.
class MeetingPoints {
  public:
    MeetingPoints(const Code& code, const FunctionCode& function)
        : code_(code), first_(function.first_block), exit_(function.end_block - function.first_block) {
        std::vector<std::vector<std::uint32_t>> before(exit_ + 1);
        for (std::uint32_t b = 0; b < exit_; ++b)
            for (const std::uint32_t s : successors(b)) before[s].push_back(b);
        // Blocks in the order in which the exit reaches them backwards, each behind all that it leads to first.
        std::vector<std::uint32_t> order;
        std::vector<std::pair<std::uint32_t, std::size_t>> stack{{exit_, 0}};
        number_.assign(exit_ + 1, none);
        std::vector<bool> seen(exit_ + 1);
        seen[exit_] = true;
        while (!stack.empty()) {
            auto& [block, next] = stack.back();
            if (next < before[block].size()) {
                const std::uint32_t b = before[block][next++];
                if (!seen[b]) {
                    seen[b] = true;
                    stack.emplace_back(b, 0);
                }
                continue;
            }
            number_[block] = static_cast<std::uint32_t>(order.size());
            order.push_back(block);
            stack.pop_back();
        }
        meet_.assign(exit_ + 1, none);
        meet_[exit_] = exit_;
        for (bool changed = true; changed;) {
            changed = false;
            for (auto b = order.rbegin() + 1; b < order.rend(); ++b) {
                std::uint32_t common = none;
                for (const std::uint32_t s : successors(*b))
                    if (meet_[s] != none) common = common == none ? s : intersect(common, s);
                changed |= std::exchange(meet_[*b], common) != common;
            }
        }
    }

    // The blocks that are run on the way from the end of `block` to the meeting point, and that point (or `none`).
    [[nodiscard]] std::pair<std::vector<std::uint32_t>, std::uint32_t> region(std::uint32_t block) const {
        const std::uint32_t from = block - first_, end = meet_[from];
        std::vector<std::uint32_t> found;
        std::vector<bool> seen(exit_ + 1);
        std::vector<std::uint32_t> open = successors(from);
        while (!open.empty()) {
            const std::uint32_t b = open.back();
            open.pop_back();
            if (b == end || b == exit_ || seen[b]) continue;
            seen[b] = true;
            found.push_back(b + first_);
            for (const std::uint32_t s : successors(b)) open.push_back(s);
        }
        return {std::move(found), end == none || end == exit_ ? none : end + first_};
    }

    static constexpr std::uint32_t none = ~0u;

  private:
    [[nodiscard]] std::vector<std::uint32_t> successors(std::uint32_t block) const {
        const BasicBlock& b = code_.blocks[block + first_];
        const std::uint32_t next = std::min(block + 1, exit_);
        switch (b.terminator) {
            case Terminator::Branch:
            case Terminator::Skip:
                if (!b.conditional) return {b.target - first_};
                return {next, b.target - first_};
            case Terminator::BranchIndexed: {
                std::vector<std::uint32_t> all;
                for (const std::uint32_t t : code_.branch_tables[b.target]) all.push_back(t - first_);
                return all;
            }
            case Terminator::Return:
            case Terminator::Exit:
            case Terminator::Trap:
                if (!b.conditional) return {exit_};
                return {next, exit_};
            default:
                return {next};
        }
    }
    [[nodiscard]] std::uint32_t intersect(std::uint32_t a, std::uint32_t b) const {
        while (a != b) {
            while (number_[a] < number_[b]) a = meet_[a];
            while (number_[b] < number_[a]) b = meet_[b];
        }
        return a;
    }

    const Code& code_;
    std::uint32_t first_, exit_;
    std::vector<std::uint32_t> number_;  // by block: when the backward walk left it
    std::vector<std::uint32_t> meet_;
};

}  // namespace

std::shared_ptr<const LaunchUse> Grid::collect_use(const std::vector<Executor>& executors) const {
    auto result = std::make_shared<LaunchUse>();
    std::map<std::pair<std::string, std::uint32_t>, LineUse> by_line;
    const auto line = [&](std::uint32_t insn) -> LineUse* {
        device::SourcePlace place = source_place(code.insns[insn]);
        if (place.line == 0) return nullptr;
        LineUse& l = by_line[{place.file, place.line}];
        l.place = std::move(place);
        return &l;
    };
    for (std::size_t i = 0; i < code.insns.size() && result->kernel.line == 0; ++i)
        result->kernel = source_place(code.insns[i]);

    std::vector<BlockCount> counts(code.blocks.size());
    for (const Executor& e : executors)
        for (std::size_t i = 0; i < counts.size(); ++i) {
            counts[i].warps += e.block_warps[i];
            counts[i].threads += e.block_threads[i];
            counts[i].divergent += e.block_divergent[i];
        }

    for (std::size_t s = 0; s < code.stat_kinds.size(); ++s) {
        const StatKind kind = code.stat_kinds[s];
        const bool load = kind == StatKind::GlobalLoad || kind == StatKind::SharedLoad;
        const bool global = kind == StatKind::GlobalLoad || kind == StatKind::GlobalStore;
        if (!global && kind != StatKind::SharedLoad && kind != StatKind::SharedStore) continue;
        MemoryStats total;
        for (const Executor& e : executors) {
            total.requests += e.memory[s].requests;
            total.sectors_or_wavefronts += e.memory[s].sectors_or_wavefronts;
            total.conflicts += e.memory[s].conflicts;
            total.l1_hits += e.memory[s].l1_hits;
        }
        if (total.requests == 0) continue;
        const std::uint32_t insn = code.stat_insns[s];
        LineUse* l = line(insn);
        if (!l) continue;
        if (!global) {
            LineUse::Shared& to = load ? l->shared_loads : l->shared_stores;
            to.requests += total.requests;
            to.wavefronts += total.sectors_or_wavefronts;
            to.conflicts += total.conflicts;
            continue;
        }
        const ptx::Instruction* in = instruction_at(module, code, insn);
        const unsigned bytes = in ? access_bytes(*in) : 0;
        if (bytes == 0) continue;
        const auto after = std::ranges::upper_bound(code.blocks, insn, {}, &BasicBlock::begin);
        const double threads = counts[static_cast<std::size_t>(after - code.blocks.begin()) - 1].average();
        LineUse::Global& to = load ? l->loads : l->stores;
        to.requests += total.requests;
        to.sectors += total.sectors_or_wavefronts;
        to.l1_hits += total.l1_hits;
        to.ideal +=
            total.requests * static_cast<std::uint64_t>(std::ceil(std::max(threads, 1.0) * bytes / sector_bytes));
        to.threads += static_cast<double>(total.requests) * threads;
    }

    for (const FunctionCode& f : code.functions) {
        std::optional<MeetingPoints> meeting_points;
        for (std::uint32_t i = f.first_block; i < f.end_block; ++i) {
            const BasicBlock& b = code.blocks[i];
            if (counts[i].warps == 0) continue;
            const bool branches =
                (b.terminator == Terminator::Branch && b.conditional) || b.terminator == Terminator::BranchIndexed;
            if (!branches) continue;
            LineUse* l = line(b.end);
            if (!l) continue;
            l->branches += counts[i].warps;
            l->divergent += counts[i].divergent;
            if (counts[i].divergent == 0) continue;
            if (!meeting_points) meeting_points.emplace(code, f);
            const auto [region, end] = meeting_points->region(i);
            const double whole =
                std::max(counts[i].average(), end == MeetingPoints::none ? 0 : counts[end].average()) / warp_size;
            for (const std::uint32_t r : region) {
                const double size = code.blocks[r].size, warps = static_cast<double>(counts[r].warps);
                l->slots += size * warps;
                l->idle += std::max(0.0, size * (whole * warps - static_cast<double>(counts[r].threads) / warp_size));
            }
        }
    }
    for (auto& [where, l] : by_line) result->lines.push_back(std::move(l));
    return result;
}

}  // namespace warpgrade::vgpu
