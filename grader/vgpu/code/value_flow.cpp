#include "vgpu/code/value_flow.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "vgpu/code/flow_graph.hpp"

namespace warpgrade::vgpu {

void ValueFlow::add(std::uint32_t from, std::uint32_t to) {
    const std::uint32_t most = std::max(from, to);
    if (most >= next_.size()) next_.resize(most + 1);
    next_[from].push_back(to);
    ++edges_;
}

void ValueFlow::add_instructions(const FunctionView& view) {
    for (const auto& [insn, all] : view.registers())
        for (const std::uint32_t from : all.read)
            for (const std::uint32_t to : all.written) {
                if (is_too_large()) return;
                add(from, to);
            }
}

void ValueFlow::add_branches(const Code& code, const FunctionView& view) {
    blocks_ = view.function().end_block - view.function().first_block;
    if (is_too_large()) return;
    const auto& registers = view.registers();
    std::map<std::uint32_t, unsigned> writes;
    for (const auto& [insn, all] : registers)
        for (const std::uint32_t to : all.written) ++writes[to];
    const PostDominators meets(code, view.function());
    for (std::uint32_t b = view.function().first_block; b < view.function().end_block; ++b) {
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
                        if (is_too_large()) return;
                        add(from, to);
                    }
        }
    }
}

std::vector<bool> ValueFlow::behind(std::vector<std::uint32_t> open, const std::vector<std::uint32_t>& cycles) const {
    std::vector<bool> found(std::max(next_.size(), cycles.size()));
    while (!open.empty()) {
        const std::uint32_t reg = open.back();
        open.pop_back();
        if (reg >= next_.size()) continue;
        for (const std::uint32_t to : next_[reg]) {
            if (found[to] || (to < cycles.size() && cycles[to] != none)) continue;
            found[to] = true;
            open.push_back(to);
        }
    }
    return found;
}

// Tarjan, "Depth-first search and linear graph algorithms", with a stack of its own: hostile code may have long chains.
std::vector<std::uint32_t> ValueFlow::cycles() const {
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

}  // namespace warpgrade::vgpu
