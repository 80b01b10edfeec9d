// The caches in front of global memory, as far as their hits are counted. The model gives the same for any number of
// host threads:
//
//   L1  each block has its own, empty when the block begins: the multiprocessor's L1 without the part that shared
//       memory takes, shared evenly by the resident blocks. Lines of 128 bytes in sectors of 32, four ways, LRU. Loads
//       fill it; so do stores, which write through, with sectors that they fill, while a part of a sector takes room
//       and gives nothing to loads; atomics and loads that ask for L2 (.cg, volatile, ordered) bypass it. Between two
//       barriers of the block, its warps take turns, one memory instruction each.
//   L2  one per launch, empty when it begins (as under Nsight Compute, which flushes it). Sixteen ways, write-back. It
//       sees the misses of the L1s, block after block in the order of their index.
//
// Not modelled: blocks that find each other's data in L1 (shared_l1.hpp has them, for times), the interleaving of
// resident blocks, local memory, misses of constants, prefetching, and misses that are still in progress at the next
// access.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/access/l1_cache.hpp"

namespace warpgrade::vgpu {

struct MemorySite;

struct CacheStats {
    std::uint64_t l2_reads = 0, l2_read_hits = 0;   // sectors
    std::uint64_t l2_writes = 0;                    // sectors of stores
    std::uint64_t dram_reads = 0, dram_writes = 0;  // sectors
    std::uint64_t fresh_writes = 0, changed = 0;    // sectors that L2 did not have; that it had, but not from a store
    std::uint64_t fetched_sectors = 0;              // by these reads: device memory sends 64 bytes at a time
    CacheStats& operator+=(const CacheStats& other) {
        l2_reads += other.l2_reads, l2_read_hits += other.l2_read_hits, l2_writes += other.l2_writes;
        dram_reads += other.dram_reads, dram_writes += other.dram_writes;
        fresh_writes += other.fresh_writes, changed += other.changed, fetched_sectors += other.fetched_sectors;
        return *this;
    }
};

// The loads of one instruction that L1 could not serve.
struct L1Misses {
    // That wait for L2: those that miss, and those that begin with a line that is on its way to another warp: at the
    // same turn, a load that begins with it missed.
    std::uint64_t waits = 0;
    std::uint64_t lines = 0;  // that had to be asked for
};

// The L1 of one block and the order in which its warps use it.
//
// Warps run one after the other up to a barrier, so their steps are recorded first and performed when all warps have
// reached the barrier. A step of an access to several lines refers to a list of them.
class BlockL1 {
  public:
    BlockL1();
    // `bytes` is the block's share of its multiprocessor's L1. Hits are counted in `stats`, misses in `misses`, by
    // slot.
    void begin_block(std::uint64_t bytes, std::uint32_t warps, std::vector<MemorySite>& stats,
                     std::vector<L1Misses>& misses);
    // One memory instruction of a warp.
    void access(std::uint32_t warp, const LineParts& lines, std::uint32_t slot, LineRequest::Kind kind);
    void access(std::uint32_t warp, const Access& access, unsigned bytes, std::uint32_t slot, LineRequest::Kind kind) {
        this->access(warp, LineParts(access, 0, bytes), slot, kind);
    }
    // The same for a known shape, with its first lane at `first`.
    void access(std::uint32_t warp, ShapeLines& shape, std::uint64_t first, std::uint32_t slot, LineRequest::Kind kind);
    // All warps have reached a barrier or their end: performs the recorded steps.
    void at_barrier();

    // What L2 sees of the block, in order. Misses beyond `max_requests` are left out and counted as misses of both
    // caches in `lost_reads` and `lost_writes`.
    static constexpr std::size_t max_requests = std::size_t{1} << 21;
    std::vector<LineRequest> misses;
    std::uint64_t lost_reads = 0, lost_writes = 0;

  private:
    // One memory instruction: one line, or a list of them relative to `line`.
    struct Step {
        std::int64_t line;
        std::uint32_t list;  // into lists_, or no_list
        std::uint16_t slot;  // as in LineRequest
        std::uint8_t parts;  // length of the list; of one line its sectors
        LineRequest::Kind kind;
        // True if its list is used by this step alone; such a list has whole lines, and no memory lies at line 0.
        [[nodiscard]] bool is_once() const { return line == 0; }
    };
    static_assert(sizeof(Step) == 16);
    static constexpr std::uint32_t no_list = ~0u;
    static constexpr std::size_t max_trace_steps = std::size_t{1} << 15;  // per warp, between two barriers
    // The steps of one warp since the last barrier. The memory of a trace is used again after the barrier.
    struct Trace {
        std::vector<Step> memory;
        Step* end = nullptr;   // of the steps
        Step* full = nullptr;  // of the memory
        [[nodiscard]] std::span<const Step> steps() const { return {memory.data(), end}; }
    };

    void note(std::uint32_t warp, const Step& step) {
        Trace& trace = traces_[warp];
        *trace.end++ = step;
        if (trace.end == trace.full) [[unlikely]]
            make_room(trace);
    }
    void make_room(Trace& trace);
    static constexpr std::uint16_t numbered(std::uint32_t slot) {
        return static_cast<std::uint16_t>(std::min(slot, LineRequest::max_slots - 1));
    }
    std::uint32_t keep(std::span<const LinePart> parts);
    void begin_phase();
    void perform(const Step& step);
    void look_up(const Step& step);
    void read_once(std::span<const LinePart> parts, const Step& step);
    void perform_line(std::uint64_t line, unsigned sectors, const Step& step);
    void miss(std::uint64_t line, unsigned sectors, const Step& step);

    std::vector<Trace> traces_;    // by warp
    std::vector<LinePart> lists_;  // for the steps in traces_
    std::uint64_t phase_;  // unique number of the current phase (the time since the last barrier) over all blocks
    std::vector<std::span<const Step>> turns_;  // of at_barrier()
    std::vector<MemorySite>* stats_ = nullptr;
    std::vector<L1Misses>* missed_ = nullptr;
    std::array<std::uint64_t, 4> on_the_way_{};  // with which loads begin that missed in this turn: a bit by hash
    L1Cache cache_;
    L1Memo memo_;
};

inline void BlockL1::access(std::uint32_t warp, ShapeLines& shape, std::uint64_t first, std::uint32_t slot,
                            LineRequest::Kind kind) {
    const std::int64_t line = line_of(first);
    if (shape.parts.size() == 1) {
        const LinePart only = shape.parts[0];
        return note(warp, {line + only.line, no_list, numbered(slot), static_cast<std::uint8_t>(only.sectors), kind});
    }
    if (shape.phase != phase_) {
        shape.copy = keep(shape.parts);
        shape.phase = phase_;
    }
    note(warp, {line, shape.copy, numbered(slot), static_cast<std::uint8_t>(shape.parts.size()), kind});
}

// One block's share of the L1: an even part of what the shared memory of `resident` blocks leaves of `l1_bytes`.
std::uint64_t l1_share(std::uint64_t l1_bytes, std::uint64_t shared_bytes_per_block, std::uint64_t resident);

}  // namespace warpgrade::vgpu
