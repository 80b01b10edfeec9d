#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "vgpu/checks/launch_use.hpp"
#include "vgpu/code/flow_graph.hpp"

namespace warpgrade::vgpu {
namespace {

struct BlockCount {
    std::uint64_t warps = 0, threads = 0, divergent = 0;
    [[nodiscard]] double average() const {
        return warps ? static_cast<double>(threads) / static_cast<double>(warps) : 0;
    }
};

// ptxas predicates a few instructions after a branch and drops the branch. It does not document how few: this is a
// careful guess.
constexpr std::uint32_t max_predicated = 4;

bool is_predicated(const Code& code, std::span<const std::uint32_t> region) {
    std::uint32_t size = 0;
    for (const std::uint32_t r : region) {
        const BasicBlock& b = code.blocks[r];
        const bool straight =
            !b.conditional && (b.terminator == Terminator::Fall || b.terminator == Terminator::Branch);
        if (!straight) return false;
        size += b.size;
    }
    return size <= max_predicated;
}

}  // namespace

LaunchUse measure_launch_use(const Launch& launch, std::span<const Executor> executors) {
    const Code& code = launch.code;
    LaunchUse result;
    std::map<std::pair<std::string, std::uint32_t>, LineUse> by_line;
    const auto line = [&](std::uint32_t insn) -> LineUse* {
        device::SourcePlace place = launch.source_place(code.insns[insn]);
        if (place.line == 0) return nullptr;
        LineUse& l = by_line[{place.file, place.line}];
        l.place = std::move(place);
        return &l;
    };
    for (std::size_t i = 0; i < code.insns.size() && result.kernel.line == 0; ++i)
        result.kernel = launch.source_place(code.insns[i]);

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
        const std::uint32_t bytes = code.stat_bytes[s];
        if (bytes == 0) continue;
        const double threads = counts[block_of(code, insn)].average();
        LineUse::Global& to = load ? l->loads : l->stores;
        to.requests += total.requests;
        to.sectors += total.sectors_or_wavefronts;
        to.l1_hits += total.l1_hits;
        to.ideal += total.requests * static_cast<std::uint64_t>(std::ceil(threads * bytes / sector_bytes));
        to.threads += static_cast<double>(total.requests) * threads;
    }

    for (const FunctionCode& f : code.functions) {
        std::optional<PostDominators> post_dominators;
        for (std::uint32_t i = f.first_block; i < f.end_block; ++i) {
            const BasicBlock& b = code.blocks[i];
            if (counts[i].warps == 0) continue;
            const bool branches =
                (b.terminator == Terminator::Branch && b.conditional) || b.terminator == Terminator::BranchIndexed;
            if (!branches) continue;
            LineUse* l = line(b.end);
            if (!l) continue;
            if (counts[i].divergent == 0) {
                l->branches += counts[i].warps;
                continue;
            }
            if (!post_dominators) post_dominators.emplace(code, f);
            const auto [region, end] = post_dominators->region(i);
            if (is_predicated(code, region)) continue;
            l->branches += counts[i].warps;
            l->divergent += counts[i].divergent;
            const double whole =
                std::max(counts[i].average(), end == PostDominators::none ? 0 : counts[end].average()) / warp_size;
            for (const std::uint32_t r : region) {
                const double size = code.blocks[r].size, warps = static_cast<double>(counts[r].warps);
                l->slots += size * warps;
                l->idle += std::max(0.0, size * (whole * warps - static_cast<double>(counts[r].threads) / warp_size));
            }
        }
    }
    for (auto& [where, l] : by_line) result.lines.push_back(std::move(l));
    return result;
}

}  // namespace warpgrade::vgpu
