#include "vgpu/code/flow_graph.hpp"

#include <utility>

namespace warpgrade::vgpu {

std::vector<Loop> find_loops(const Code& code, const FunctionCode& function) {
    std::vector<Loop> loops;
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        std::uint32_t first = b + 1;
        for_successors(code, b, [&](std::uint32_t next) { first = std::min(first, next); });
        if (first <= b && first >= function.first_block) loops.push_back({first, b});
    }
    return loops;
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
PostDominators::PostDominators(const Code& code, const FunctionCode& function)
    : code_(code), first_(function.first_block), exit_(function.end_block - function.first_block) {
    std::vector<std::vector<std::uint32_t>> before(exit_ + 1);
    for (std::uint32_t b = 0; b < exit_; ++b)
        for (const std::uint32_t s : successors(b)) before[s].push_back(b);
    // Postorder of a backward walk from the exit.
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
    post_dominator_.assign(exit_ + 1, none);
    post_dominator_[exit_] = exit_;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto b = order.rbegin() + 1; b < order.rend(); ++b) {
            std::uint32_t common = none;
            for (const std::uint32_t s : successors(*b))
                if (post_dominator_[s] != none) common = common == none ? s : intersect(common, s);
            changed |= std::exchange(post_dominator_[*b], common) != common;
        }
    }
}

std::pair<std::vector<std::uint32_t>, std::uint32_t> PostDominators::region(std::uint32_t block) const {
    const std::uint32_t from = block - first_, end = post_dominator_[from];
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

std::vector<std::uint32_t> PostDominators::successors(std::uint32_t block) const {
    std::vector<std::uint32_t> found;
    for_successors(code_, block + first_, [&](std::uint32_t s) { found.push_back(std::min(s - first_, exit_)); });
    if (leaves(code_.blocks[block + first_])) found.push_back(exit_);
    return found;
}

std::uint32_t PostDominators::intersect(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
        while (number_[a] < number_[b]) a = post_dominator_[a];
        while (number_[b] < number_[a]) b = post_dominator_[b];
    }
    return a;
}

}  // namespace warpgrade::vgpu
