// Which thread accessed a piece of memory last, for racecheck and initcheck.
//
// Memory is watched in granules: words of four bytes, or less if the kernel has smaller accesses. Each granule has two
// marks: its last write, and its reads since then. A mark holds the time on the host thread's clock, the thread and the
// instruction. The clock advances when threads meet (a barrier of the block, __syncwarp()) and when another block has
// its turn, so two accesses are ordered if their threads met between them: "the other access happened before my last
// meeting with its thread" is one comparison. Unordered reads by several threads share one mark, with the first thread
// and how far apart the threads are. This keeps no more than HiRace's state machine (arXiv 2401.04701): every report is
// a race, and of several races on one granule at least one is found.
//
// Only what orders memory counts as a meeting. Shuffles, votes and lockstep do not.
//
// Our words; the literature calls marks epochs and shadow memory, and "ordered" happens-before:
//   mark      who accessed a granule last, and when
//   meeting   what orders the accesses of threads before it before their accesses after it: a barrier, __syncwarp()
//   turn      of a block: the time from when its host thread takes it up to when another block runs there
//   observer  the warp that accesses memory now, with the times up to which it is ordered after others
//   settled   marks before that time no longer matter: they are from an earlier launch, or from blocks whose work this
//             block has seen completed (through a flag, for instance)
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/access/granules.hpp"

namespace warpgrade::vgpu {

namespace mark {
inline constexpr unsigned time_shift = 30, site_shift = 15, kind_shift = 13;
inline constexpr Mark warp_bits = 31 << 5, thread_bits = lane_bits | warp_bits;
// Like `several_lanes`: reads by several warps, or by several blocks. Only the first thread's number is kept.
inline constexpr Mark several_warps = 1 << 11, several_blocks = 1 << 12;
// The kind of access: plain, volatile, or atomic, for all blocks or for its own only. The kinds of merged reads are
// and-ed.
inline constexpr Mark plain = 0, is_volatile = 1 << kind_shift, block_scope = 2 << kind_shift, atomic = 3 << kind_shift,
                      kind = 3 << kind_shift;
constexpr bool is_atomic(Mark m) { return (m & block_scope) != 0; }  // of any scope
constexpr bool is_block_scope(Mark m) { return (m & kind) == block_scope; }
// The mark of a write in progress: ordered with no other access.
inline constexpr Mark in_progress = ((Mark{1} << 33) - 1) << time_shift | several_warps;
inline constexpr Mark unknown_site = (1 << (time_shift - site_shift)) - 1;

constexpr Mark at_time(std::uint64_t time) { return time << time_shift; }
constexpr std::uint64_t time_of(Mark m) { return m >> time_shift; }
// The memory instruction, as its index into the statistics if that fits.
constexpr Mark of_site(std::uint32_t slot) { return (slot < unknown_site ? slot : unknown_site) << site_shift; }
constexpr std::uint32_t site_of(Mark m) { return static_cast<std::uint32_t>(m >> site_shift & unknown_site); }
constexpr std::uint32_t thread_of(Mark m) { return static_cast<std::uint32_t>(m & thread_bits); }
}  // namespace mark

// Which block had its turn when on one host thread, for blocks that take turns.
class TurnLog {
  public:
    void begin(std::uint64_t time, std::uint64_t block) {
        if (turns_.empty() || turns_.back().block != block) turns_.push_back({time, block});
    }
    // True if the block whose turn it is made this mark.
    [[nodiscard]] bool is_own(Mark m) const { return block_at(m) == turns_.back().block; }
    [[nodiscard]] std::optional<std::uint64_t> block_at(Mark m) const;
    // The block that had the last turn.
    [[nodiscard]] std::optional<std::uint64_t> last() const {
        return turns_.empty() ? std::nullopt : std::optional(turns_.back().block);
    }

  private:
    struct Turn {
        std::uint64_t time, block;
    };
    std::vector<Turn> turns_;
};

// What one warp knows when it accesses memory.
struct Observer {
    Mark me = 0;                     // now, the instruction, the kind, the warp; the lane is the granule's
    Mark bound = 0;                  // marks before it: ordered before all threads of the warp (a barrier of the block)
    Mark warp_bound = 0;             // ordered before, if they are of this warp (__syncwarp as well)
    Mark turn = 0;                   // marks from here on are of this block, since its turn began
    Mark settled = 0;                // marks before it are of no interest: of other blocks or launches, and ordered
    Mark settled_reads = 0;          // the same for marks of reads
    const TurnLog* turns = nullptr;  // if the block has had turns before
    // The same observer, for marks of reads.
    [[nodiscard]] Observer for_reads() const {
        Observer o = *this;
        o.settled = std::max(settled, settled_reads);
        return o;
    }
};

// The observer of shared memory, which no other block sees: all marks since the block began are its own, and none is
// settled. Its rules are shorter.
struct BlockObserver : Observer {};

// The marks of a piece of memory; granule 0 lies at its first byte.
struct MarkedMemory {
    Mark* writes = nullptr;
    Mark* reads = nullptr;  // nullptr: reads are not kept
};

// True if a mark is ordered before what lane `who` does now (with mark::several_lanes, `who` stands for several lanes).
bool is_ordered(Mark m, const Observer& o, Mark who);

// Notes a load of the granules of `shape`; the first lane's granule is number `first`. False if one of them has an
// unordered write, or, with `written_since`, was not written since that mark.
bool note_load(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
               Mark written_since);
bool note_load(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const BlockObserver& o,
               Mark written_since);
// Notes a store. False if another access of a granule is unordered with it; then nothing or only a part is noted.
bool note_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o);
bool note_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const BlockObserver& o);
// Notes a store without checking. `keep_weaker` keeps the marks of this block's writes that race with other blocks:
// plain writes and atomics of block scope.
void force_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
                 bool keep_weaker);

}  // namespace warpgrade::vgpu
