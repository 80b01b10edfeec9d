// The state of a running warp, block and host thread, as the handlers see it.
//
// Our words:
//   split     lanes of one warp that are at the same instruction; the splits of a diverged warp take turns and merge
//             where they reach the same place
//   slot      the index of a memory instruction's statistics (Insn::stat)
//   deferred  a split that spins: the other splits of its warp run first
//   settled   marks in shadow memory (shadow/marks.hpp) that are too old to race with any access of this block
//   attempt   a launch whose blocks run on several host threads although they might communicate (Executor::optimistic)
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/access/atomic_queues.hpp"
#include "vgpu/access/block_run.hpp"
#include "vgpu/access/caches.hpp"
#include "vgpu/access/site.hpp"
#include "vgpu/access/swap_contention.hpp"
#include "vgpu/code/code.hpp"
#include "vgpu/memory/memory.hpp"
#include "vgpu/shadow/watch_state.hpp"

namespace warpgrade::vgpu {

class Launch;
struct Executor;
struct BlockState;

// Lanes of one warp that are at the same place. A converged warp has one split.
struct Split {
    enum class State : std::uint8_t { Ready, AtBarrier, AtCollective };
    std::uint32_t pc = 0;  // basic block
    std::uint32_t mask = 0;
    std::uint32_t frame = 0;  // index into Warp::frames
    State state = State::Ready;
    std::uint8_t barrier = 0;   // the barrier that it waits at
    bool deferred = false;      // it spins: let the others of this warp run first
    std::uint32_t members = 0;  // AtCollective: the lanes that have to arrive
    // The last basic block that these lanes ran, ignoring mere jumps and returns. For synccheck.
    static constexpr std::uint32_t unknown = ~0u;
    std::uint32_t last = unknown;
    const Insn* waiting_insn = nullptr;  // the barrier or collective that it waits at
};
static_assert(sizeof(Split) == 32);  // schedulers scan them at every barrier

struct Frame {
    std::byte* registers = nullptr;
    std::uint32_t function = 0;
    std::uint32_t caller = 0;  // frame index
    std::uint32_t return_pc = 0;
    std::uint32_t call_site = 0;
    std::uint32_t users = 0;  // lanes that have not returned; 0: the frame is free
    std::uint32_t storage_bytes = 0;
    std::uint32_t depth = 0;
    std::uint32_t local_offset = 0;  // of this activation, in each thread's local memory
    std::uint32_t local_end = 0;     // end of its variables there
};

// Synchronising operations after which a warp lets the others run.
inline constexpr std::uint32_t warp_turn = 512;

struct Warp {
    std::byte* base[4] = {};  // by Ref area: the running frame's registers, constants, specials, scratch
    Executor* executor = nullptr;
    BlockState* block = nullptr;
    std::byte* local = nullptr;         // local memory of this warp: lane-major
    std::uint32_t local_stride = 0;     // bytes of each lane's local memory
    std::uint32_t local_end = 0;        // end of the running activation's variables, in each lane's local memory
    std::uint32_t index = 0;            // in the block
    std::uint32_t live = 0;             // lanes that have not exited
    std::uint32_t first_lanes = 0;      // run until they wait, then the others; 0: lanes stay together
    std::uint32_t sync_operations = 0;  // atomics and volatile accesses since this warp was scheduled
    std::uint64_t clock = 0;            // instructions that this warp has executed: %clock
    std::uint64_t slept = 0;            // the part of `clock` that is not instructions
    WarpWork work;                      // `clock` counts its instructions
    std::uint64_t slice_end = 0;        // value of `clock` at which other warps get a turn, even if this warp does not
                                        // synchronise
    std::uint32_t frame = 0;            // index of the running frame
    std::uint32_t participants = 0;     // lanes that execute the running collective together
    std::uint32_t present = 0;          // lanes that have reached the running collective, whatever their masks
    std::vector<Split> splits;
    std::vector<Frame> frames;
    std::vector<AlignedBytes> frame_storage;  // for calls, by frame index
    std::uint64_t frame_storage_bytes = 0;
    std::vector<std::uint32_t> free_frames;  // the last one freed is reused first
    WarpWatch watch;
};

struct Barrier {
    std::uint32_t arrived = 0;    // threads
    std::uint32_t expected = 0;   // 0: all live threads of the block
    std::uint32_t asked = 0;      // bar.red: threads whose predicate was asked
    std::uint32_t count = 0;      // bar.red: those threads in which it holds
    bool apart = false;           // some threads wait at another instruction than the first ones
    const Insn* first = nullptr;  // where the first ones wait
};

struct BlockState {
    std::uint32_t x = 0, y = 0, z = 0;
    std::uint64_t linear = 0;     // in the grid
    std::uint64_t number = 0;     // among the blocks that run
    std::byte* shared = nullptr;  // laid out as Launch::shared says
    std::uint32_t live_threads = 0;
    std::vector<Warp> warps;
    std::array<Barrier, 16> barriers{};
    std::uint32_t warps_done = 0;
    AlignedBytes storage;  // registers, specials and shared memory
    HostPages local;       // of all warps
    BlockL1 l1;
    SwapContention swaps;
    std::uint32_t swapped = 0;  // the lanes whose last compare-and-swap succeeded
    BlockWatch watch;
};

inline constexpr unsigned constant_line_bytes = 64;

// What one host thread needs to execute blocks of a launch; counters are summed over executors afterwards. Executors
// must not share a cache line, because they count with every instruction.
struct alignas(128) Executor {
    Launch* launch = nullptr;
    const Code* code = nullptr;
    unsigned thread = 0;      // index of the host thread
    bool tracking = false;    // records reads and writes of global memory
    bool optimistic = false;  // the launch can be undone: if it turns out to need order, it starts again serially
    bool observed = false;    // accesses of global memory go through note_observed
    std::vector<MemorySite> memory;   // by Insn::memory_slot
    std::vector<L1Misses> l1_misses;  // the same
    BlockRun ended;                   // what has not been handed over
    PatternPool patterns;
    AtomicQueues atomics;
    SwapContention::Turns swap_turns;
    std::uint64_t match_exchanges = 0;
    std::bitset<1024> constant_lines;  // which of constant memory loads have asked for; see constant_line_bytes
    std::vector<std::uint64_t> block_warps, block_threads, block_divergent;  // by basic block
    std::uint64_t instructions = 0;                                          // not yet charged to the launch's budget
    std::uint64_t mapped_read_sectors = 0, mapped_write_sectors = 0;
    const std::byte* params = nullptr;
    std::uint64_t param_bytes = 0;
    GlobalMemory* global = nullptr;
    ExecutorWatch watch;
};

template <class T>
inline T* operand(const Warp& w, Ref ref) {
    return reinterpret_cast<T*>(w.base[ref >> 30] + (ref & area::offset_mask));
}

inline std::uint32_t& predicate(const Warp& w, Ref ref) { return *operand<std::uint32_t>(w, ref); }

// Of the lanes in the mask, those in which the instruction's guard holds.
inline std::uint32_t guard_lanes(const Warp& w, const Insn& in, std::uint32_t mask) {
    return mask & (predicate(w, in.guard) ^ (in.guard_negated ? ~0u : 0u));
}

// The handler of a guarded instruction: its `inner` one runs for the lanes whose predicate holds.
void run_guarded(Warp& warp, const Insn& in, std::uint32_t mask);

}  // namespace warpgrade::vgpu
