// Who accessed which memory last, for racecheck and initcheck.
//
// Memory is watched in granules: words of four bytes, or less if the kernel has smaller accesses. Each granule has two
// marks: its last write, and its reads since then. A mark is a moment of the host thread's clock with the thread and
// the instruction. The clock goes on when threads meet (a barrier of the block, __syncwarp()) and when another block
// has its turn, so two accesses are ordered if a meeting of their threads lies between: "the other one happened before
// my last meeting with its thread" is one comparison. Reads by several threads without order between them are one mark
// with the first of them and how far apart they are. That keeps no more than HiRace's state machine (arXiv 2401.04701)
// would: what is reported is a race, and of several races on one granule at least one is found.
//
// Only what orders memory counts as a meeting. A shuffle or vote does not, and neither does lockstep.
//
// Words of our own; in those of the literature, marks are epochs and shadow memory, and "ordered" is happens-before:
//   mark      who accessed a granule last, and when
//   meeting   what orders the accesses of threads before it before those behind it: a barrier, __syncwarp()
//   turn      of a block: from when its host thread takes it up to when another block runs there
//   observer  the warp that accesses memory now, with the moments from which on its order with others is open
//   settled   marks before that moment are of no interest: of an earlier launch, or of blocks whose work this block has
//             seen to be done (through a flag, say)
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
// As `lanes`, reads of several warps, several blocks. Only the first thread's number is kept.
inline constexpr Mark warps = 1 << 11, blocks = 1 << 12;
// How it accessed: plainly, volatile, or atomically, for all or for its own block only. The kinds of merged reads are
// and-ed.
inline constexpr Mark plain = 0, is_volatile = 1 << kind_shift, of_block = 2 << kind_shift, atomic = 3 << kind_shift,
                      kind = 3 << kind_shift;
constexpr bool is_atomic(Mark m) { return (m & of_block) != 0; }  // of any scope
constexpr bool is_of_block(Mark m) { return (m & kind) == of_block; }
// Of a write that is under way: no order with anybody.
inline constexpr Mark under_way = ((Mark{1} << 33) - 1) << time_shift | warps;
inline constexpr Mark unknown_site = (1 << (time_shift - site_shift)) - 1;

constexpr Mark at_time(std::uint64_t time) { return time << time_shift; }
constexpr std::uint64_t time_of(Mark m) { return m >> time_shift; }
// The memory instruction: its index into the statistics, if that is small enough.
constexpr Mark of_site(std::uint32_t slot) { return (slot < unknown_site ? slot : unknown_site) << site_shift; }
constexpr std::uint32_t site_of(Mark m) { return static_cast<std::uint32_t>(m >> site_shift & unknown_site); }
constexpr std::uint32_t thread_of(Mark m) { return static_cast<std::uint32_t>(m & thread_bits); }
}  // namespace mark

// Which block had its turn when, on one host thread: for blocks that take turns.
class TurnLog {
  public:
    void begin(std::uint64_t time, std::uint64_t block) {
        if (turns_.empty() || turns_.back().block != block) turns_.push_back({time, block});
    }
    // Did the block whose turn it is make this mark?
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
    // To look at marks of reads.
    [[nodiscard]] Observer of_reads() const {
        Observer o = *this;
        o.settled = std::max(settled, settled_reads);
        return o;
    }
};

// The marks of a piece of memory; granule 0 lies at its first byte.
struct MarkedMemory {
    Mark* writes = nullptr;
    Mark* reads = nullptr;  // nullptr: nobody asks for them
};

// Is a mark ordered before what lane `who` (with mark::lanes: one of several) does now?
bool is_ordered(Mark m, const Observer& o, Mark who);

// Notes a load of the granules of `shape`, the first lane's being number `first`. False if one of them was written by
// somebody without order, or, with `written_since`, not since that mark.
bool note_load(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
               Mark written_since);
// Notes a store. False, with nothing or only a part noted, if another access of a granule has no order with it.
bool note_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o);
// The same without asking. `keep_weaker`: writes of this block that race with what other blocks do, plain ones and
// atomics of block scope, stay.
void force_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
                 bool keep_weaker);

}  // namespace warpgrade::vgpu
