// Computes the counters of a launch from the executions of each basic block and from the memory instructions'
// statistics.
#include <algorithm>
#include <map>

#include "vgpu/code/chains.hpp"
#include "vgpu/code/flow_graph.hpp"
#include "vgpu/exec/grid.hpp"

namespace warpgrade::vgpu {
namespace {

void add_cache(device::Counters& c, const CacheStats& stats) {
    c.l2_read_sectors += stats.l2_reads;
    c.l2_read_hits += stats.l2_read_hits;
    c.l2_write_sectors += stats.l2_writes;
    c.dram_read_sectors += stats.dram_reads;
    c.dram_write_sectors += stats.dram_writes;
}

// How long after the other a request's sectors come that are not of one line, on an H100 (tests/model/h100.md, "chains
// of a warp").
constexpr std::uint64_t cycles_a_sector = 3;
// How long after another request of its warp one comes that does not wait for it (the same, "loads a turn").
constexpr std::uint64_t cycles_a_request = 6;

// Each request of a chain, at the farthest level that one of its sectors came from.
void add_chained(Chains& chains, StatKind kind, const MemoryStats& total, std::uint64_t beyond_l1,
                 const CacheStats& caches, bool swaps) {
    const std::uint64_t beyond_l2 =
        caches.l2_reads == 0 ? 0 : scaled(beyond_l1, std::min(caches.dram_reads, caches.l2_reads), caches.l2_reads);
    switch (kind) {
        case StatKind::SharedLoad:
        case StatKind::SharedAtomic:
            chains.shared += total.requests;
            chains.queue_cycles += total.sectors_or_wavefronts - std::min(total.requests, total.sectors_or_wavefronts);
            return;
        case StatKind::GlobalAtomic:
            chains.atomics += total.requests;
            // Lanes that compare and swap one word are a fourth of the way to L2 apart (h100.md, "a word each warp").
            if (swaps) chains.atomics += (total.conflicts - std::min(total.conflicts, total.sectors_or_wavefronts)) / 4;
            break;
        default:
            chains.l1 += total.requests - beyond_l1;
            chains.l2 += beyond_l1 - beyond_l2;
            chains.dram += beyond_l2;
    }
    const std::uint64_t at_once = l1_tenths::sectors_of_full_request * total.requests;
    const std::uint64_t further = total.sectors_or_wavefronts - std::min(at_once, total.sectors_or_wavefronts);
    if (kind == StatKind::GlobalAtomic || total.requests == 0) {
        chains.queue_cycles += cycles_a_sector * further;
        return;
    }
    // What L1 has comes as fast as L1 can.
    const std::uint64_t l1_cycles = total.conflicts - std::min(total.requests, total.conflicts);
    chains.queue_cycles += scaled(cycles_a_sector * further, beyond_l1, total.requests) +
                           scaled(l1_cycles, total.requests - std::min(beyond_l1, total.requests), total.requests);
}

// How often a warp waits for loads that are in flight together, by the farthest level that one of them asked.
struct Flight {
    std::uint64_t waits = 0, beyond_l1 = 0, beyond_l2 = 0;
};

void add_waits(Traffic& traffic, StatKind kind, const MemoryStats& total, std::uint64_t beyond_l1,
               const CacheStats& caches, std::uint32_t turns, Flight& flight) {
    if (kind == StatKind::GlobalAtomic) return;
    const bool shared = is_of_shared_memory(kind);
    Waits& waits = shared ? traffic.shared_waits : traffic.global_waits;
    waits.loads += total.requests;
    Chains all;
    add_chained(all, kind, total, beyond_l1, caches, false);
    if (!shared) {
        flight.beyond_l1 = std::max(flight.beyond_l1, all.l2 + all.dram);
        flight.beyond_l2 = std::max(flight.beyond_l2, all.dram);
        all.l1 = all.l2 = all.dram = 0;
        if (turns > 0) flight.waits = total.requests / turns;
    }
    if (turns > 0) {
        all.scale(1, turns);
        waits.waits += all;
    } else if (!shared) {
        waits.waits.queue_cycles += std::max(cycles_a_request * total.requests, total.conflicts);
    }
}

// `total.conflicts`: lines. L1 has room for a few lines that are on their way to L2: somewhat more than half of the
// stores to them come in time (Nsight Compute's counts, tests/model/h100.md, "stores").
void add_store(Traffic& traffic, const Code& code, std::uint32_t insn, const MemoryStats& total) {
    constexpr std::uint64_t most_lines = 6, of_hundred = 55;
    traffic.store_lines += total.conflicts;
    if (total.conflicts > most_lines * total.requests || !std::ranges::binary_search(code.following_stores, insn))
        return;
    traffic.collected_lines += scaled(total.conflicts, of_hundred, 100);
    traffic.collected_sectors += scaled(total.sectors_or_wavefronts, of_hundred, 100);
}

// The load that ptxas makes of this one, perhaps with others.
MergedLoad merged_with(const Code& code, std::uint32_t insn) {
    const auto load = std::ranges::lower_bound(code.merged_loads, insn, {}, &MergedLoad::insn);
    return load != code.merged_loads.end() && load->insn == insn ? *load : MergedLoad{insn};
}

// A load of 8 bytes takes as many wavefronts as one of each half, one of 16 bytes as many, but at least two.
void add_merged(Traffic& traffic, const MemoryStats& total, const MergedLoad& load) {
    if (load.of == 1) return;
    traffic.merged_requests += total.requests - total.requests / load.of;
    const std::uint64_t all =
        load.words == 4 ? std::max(total.sectors_or_wavefronts, 2 * total.requests) : total.sectors_or_wavefronts;
    traffic.merged_wavefronts += total.sectors_or_wavefronts - std::min(all / load.of, total.sectors_or_wavefronts);
}

void add_constants(Traffic& traffic, const Code& code, std::uint32_t insn, const MemoryStats& total) {
    const std::uint64_t cycles = total.conflicts / merged_with(code, insn).of;
    const auto load = std::ranges::lower_bound(code.uniform_loads, insn, {}, &UniformLoad::insn);
    const bool is_uniform = load != code.uniform_loads.end() && load->insn == insn;
    const std::uint64_t shared = is_uniform ? cycles * load->shared / load->of : 0;
    traffic.constant_cycles += cycles - shared;
    traffic.uniform_constant_cycles += shared;
}

// Of a request: more than half of its lanes have one of their own.
constexpr std::uint64_t scattered_sectors = warp_size / 2;

void add_scattered(Scattered& scattered, const MemoryStats& total, const CacheStats& caches) {
    scattered.sectors += total.sectors_or_wavefronts;
    scattered.dram_reads += caches.dram_reads;
    scattered.fetched_sectors += caches.fetched_sectors;
}

}  // namespace

void Grid::collect_counters() {
    const Code& code = launch_.code;
    device::Counters& counters = result_.counters;
    std::map<std::pair<std::string, std::uint32_t>, device::Counters> by_line;
    std::map<ptx::LocationId, device::Counters*> line_of;
    const auto line = [&](std::size_t insn) -> device::Counters* {
        const ptx::LocationId id = code.locations[insn];
        const auto [it, fresh] = line_of.try_emplace(id, nullptr);
        if (fresh) {
            const auto at = launch_.module.outermost(id);
            const std::string* file = at.line ? launch_.module.file_name(at.file) : nullptr;
            if (file) it->second = &by_line[{*file, at.line}];
        }
        return it->second;
    };
    const auto add = [&](std::size_t insn, auto&& change) {
        change(counters);
        if (device::Counters* l = line(insn)) change(*l);
    };
    for (std::size_t i = 0; i < code.blocks.size(); ++i) {
        const BasicBlock& b = code.blocks[i];
        std::uint64_t warps = 0, threads = 0, divergent = 0;
        for (const Executor& e : executors_) {
            warps += e.block_warps[i];
            threads += e.block_threads[i];
            divergent += e.block_divergent[i];
        }
        if (!warps) continue;
        result_.traffic.machine.add(b.cost, warps);
        if (b.predicated_until > 0) result_.traffic.predicated_divergences += divergent;
        result_.traffic.issue_tenths += warps * b.issue_tenths;
        result_.traffic.path += scaled(b.path, warps, b.turns);
        for (std::uint32_t k = 0; k < b.size; ++k)
            add(b.begin + k, [&](device::Counters& c) {
                c.inst_executed += warps;
                c.thread_inst_executed += threads;
            });
        if ((b.terminator == Terminator::Branch && b.conditional) || b.terminator == Terminator::BranchIndexed)
            add(b.end, [&](device::Counters& c) {
                c.branches += warps;
                c.divergent_branches += divergent;
            });
        if (b.terminator == Terminator::Barrier) add(b.end, [&](device::Counters& c) { c.barriers += warps; });
    }
    std::bitset<1024> constant_lines;
    for (const Executor& e : executors_) constant_lines |= e.constant_lines;
    result_.traffic.constant_bytes = constant_lines.count() * constant_line_bytes;
    // The machine's cost says the rest.
    std::uint64_t& issued = result_.traffic.issue_tenths;
    issued -= std::min(result_.traffic.machine.further * issue_tenths::further, issued);
    std::map<std::uint32_t, Flight> flights;  // by the first load
    for (std::size_t s = 0; s < code.stat_kinds.size(); ++s) {
        MemoryStats total;
        std::uint64_t beyond_l1 = 0, missed_lines = 0;  // beyond_l1: requests
        for (const Executor& e : executors_) {
            total.requests += e.memory[s].requests;
            total.sectors_or_wavefronts += e.memory[s].sectors_or_wavefronts;
            total.conflicts += e.memory[s].conflicts;
            total.l1_hits += e.memory[s].l1_hits;
            beyond_l1 += e.l1_misses[s].waits;
            missed_lines += e.l1_misses[s].lines;
        }
        if (!total.requests) continue;
        if (code.stat_kinds[s] == StatKind::SharedLoad)
            add_merged(result_.traffic, total, merged_with(code, code.stat_insns[s]));
        if (code.stat_kinds[s] == StatKind::ConstantLoad)
            add_constants(result_.traffic, code, code.stat_insns[s], total);
        if (code.stat_kinds[s] == StatKind::GlobalLoad) {
            const SharedL1::Found found = caches_->shared_l1().found(s);
            if (found.asked > 0) {
                result_.traffic.shared_hits += scaled(caches_->stats(s).l2_reads, found.found, found.asked);
                for (std::uint64_t* missed : {&beyond_l1, &missed_lines})
                    *missed = scaled(*missed, found.asked - found.found, found.asked);
            }
            result_.traffic.load_cycles += total.conflicts;
            result_.traffic.missed_lines += missed_lines;
        }
        if (code.stat_kinds[s] == StatKind::GlobalStore) add_store(result_.traffic, code, code.stat_insns[s], total);
        result_.traffic.fresh_writes += caches_->stats(s).fresh_writes;
        result_.traffic.changed += caches_->stats(s).changed;
        const bool is_chained = std::ranges::binary_search(code.chained_loads, code.stat_insns[s]);
        if (is_chained)
            add_chained(result_.traffic.chains, code.stat_kinds[s], total, beyond_l1, caches_->stats(s),
                        std::ranges::find(code.compare_and_swaps, s) != code.compare_and_swaps.end());
        else if (brings_a_value(code.stat_kinds[s])) {
            const LoadWait wait = wait_of(code, code.stat_insns[s]);
            add_waits(result_.traffic, code.stat_kinds[s], total, beyond_l1, caches_->stats(s), wait.turns,
                      flights[wait.head]);
        }
        if (code.stat_kinds[s] == StatKind::GlobalLoad &&
            std::ranges::binary_search(code.irregular_loads, code.stat_insns[s]) &&
            (is_chained || total.sectors_or_wavefronts > scattered_sectors * total.requests))
            add_scattered(result_.traffic.scattered, total, caches_->stats(s));
        add(code.stat_insns[s], [&](device::Counters& c) {
            switch (code.stat_kinds[s]) {
#define WG_STAT(kind, requests_field, units_field)    \
    case StatKind::kind:                              \
        c.requests_field += total.requests;           \
        c.units_field += total.sectors_or_wavefronts; \
        break;
                WG_STAT(GlobalLoad, global_load_requests, global_load_sectors)
                WG_STAT(GlobalStore, global_store_requests, global_store_sectors)
                WG_STAT(LocalLoad, local_load_requests, local_load_sectors)
                WG_STAT(LocalStore, local_store_requests, local_store_sectors)
                WG_STAT(GlobalAtomic, atomic_requests, atomic_sectors)
                WG_STAT(TextureLoad, texture_requests, texture_sectors)
                WG_STAT(SurfaceLoad, surface_load_requests, surface_load_sectors)
                WG_STAT(SurfaceStore, surface_store_requests, surface_store_sectors)
                WG_STAT(SharedLoad, shared_load_requests, shared_load_wavefronts)
                WG_STAT(ConstantLoad, constant_load_requests, constant_load_wavefronts)
                WG_STAT(SharedStore, shared_store_requests, shared_store_wavefronts)
                WG_STAT(SharedAtomic, shared_atomic_requests, shared_atomic_wavefronts)
#undef WG_STAT
                case StatKind::None:
                    break;
            }
            if (code.stat_kinds[s] == StatKind::GlobalLoad) c.global_load_l1_hits += total.l1_hits;
            add_cache(c, caches_->stats(s));
            if (code.stat_kinds[s] == StatKind::GlobalAtomic) c.atomic_cycles += total.conflicts;
            if (code.stat_kinds[s] == StatKind::SharedLoad) c.shared_load_bank_conflicts += total.conflicts;
            if (code.stat_kinds[s] == StatKind::SharedStore) c.shared_store_bank_conflicts += total.conflicts;
        });
    }
    for (const auto& [head, flight] : flights) {
        const std::uint64_t beyond_l1 = std::min(flight.beyond_l1, flight.waits),
                            beyond_l2 = std::min(flight.beyond_l2, beyond_l1);
        Chains& waits = result_.traffic.global_waits.waits;
        waits.l1 += flight.waits - beyond_l1, waits.l2 += beyond_l1 - beyond_l2, waits.dram += beyond_l2;
    }
    for (const Executor& e : executors_) result_.traffic.machine.exchanges += e.match_exchanges;
    add_retries();
    add_cache(counters, caches_->lost());
    std::uint64_t blocks = 0;
    const std::uint32_t entry = code.functions[0].entry_block;
    const std::uint64_t warps_a_block = (launch_.config.block.count() + warp_size - 1) / warp_size;
    for (const Executor& e : executors_) blocks += e.block_warps[entry];
    counters.warps_launched = result_.fault ? blocks : launch_.config.grid.count() * warps_a_block;
    counters.blocks_launched = counters.warps_launched / warps_a_block;
    for (auto& [where, c] : by_line) result_.lines.push_back({where.first, where.second, c});
}

void Grid::add_retries() {
    const Code& code = launch_.code;
    SwapContention::Turns turns;
    for (const Executor& e : executors_) turns.here += e.swap_turns.here, turns.further += e.swap_turns.further;
    if (turns.further == 0) return;
    Retries& retries = result_.traffic.retries;
    const auto further = [&](std::uint64_t count) { return scaled(count, turns.further, turns.here); };
    for (const std::uint32_t slot : code.compare_and_swaps) {
        const std::uint32_t insn = code.stat_insns[slot];
        if (code.stat_kinds[slot] != StatKind::SharedAtomic || !std::ranges::binary_search(code.chained_loads, insn))
            continue;
        const std::uint32_t block = block_of(code, insn);
        std::uint64_t requests = 0, wavefronts = 0, warps = 0, divergent = 0;
        for (const Executor& e : executors_) {
            requests += e.memory[slot].requests, wavefronts += e.memory[slot].sectors_or_wavefronts;
            warps += e.block_warps[block], divergent += e.block_divergent[block];
        }
        retries.requests += further(requests);
        retries.wavefronts += further(wavefronts);
        retries.instructions += further(requests * code.blocks[block].size);
        if (warps > 0) retries.divergences += further(scaled(requests, divergent, warps));
    }
}

// Takes what the sampled blocks did for what all do. Of a launch that failed, only what happened is counted.
void Grid::scale_sample() {
    const std::uint64_t all = launch_.config.grid.count(), ran = launch_.blocks;
    result_.sampled_blocks = ran;
    if (result_.fault) return;
    const auto scale = [&](std::uint64_t& count) { count = scaled(count, all, ran); };
    const auto scale_counters = [&](device::Counters& c) {
        const std::uint64_t warps = c.warps_launched, blocks = c.blocks_launched;  // are known
#define WG_COUNTER(field, ncu, meaning) scale(c.field);
#include "device/counters.def"
#undef WG_COUNTER
        c.warps_launched = warps, c.blocks_launched = blocks;
    };
    scale_counters(result_.counters);
    for (device::LineCounters& line : result_.lines) scale_counters(line.counters);
    scale(result_.traffic.mapped_read_sectors);
    scale(result_.traffic.mapped_write_sectors);
    scale(result_.traffic.busiest_atomic_cycles);
    scale(result_.traffic.load_cycles);
    scale(result_.traffic.missed_lines);
    scale(result_.traffic.shared_hits);
    scale(result_.traffic.fresh_writes);
    scale(result_.traffic.changed);
    scale(result_.traffic.constant_cycles);
    scale(result_.traffic.uniform_constant_cycles);
    scale(result_.traffic.predicated_divergences);
    scale(result_.traffic.merged_requests);
    scale(result_.traffic.merged_wavefronts);
    scale(result_.traffic.store_lines);
    scale(result_.traffic.collected_lines);
    scale(result_.traffic.collected_sectors);
    result_.traffic.machine.scale(all, ran);
    scale(result_.traffic.path);
    scale(result_.traffic.issue_tenths);
    result_.traffic.chains.scale(all, ran);
    result_.traffic.global_waits.scale(all, ran);
    result_.traffic.shared_waits.scale(all, ran);
    result_.traffic.scattered.scale(all, ran);
    result_.traffic.retries.scale(all, ran);
    result_.spread.busiest_issue = result_.spread.busiest_l1 = 0;  // the blocks would lie elsewhere
}

}  // namespace warpgrade::vgpu
