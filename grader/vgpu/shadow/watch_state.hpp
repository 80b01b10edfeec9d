// What the checks remember of a running warp, block and host thread, besides the state that runs it (state/warp.hpp).
// Unused when no check is switched on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/access/access_log.hpp"
#include "vgpu/access/access_notes.hpp"
#include "vgpu/code/code.hpp"
#include "vgpu/shadow/findings.hpp"
#include "vgpu/shadow/marks.hpp"

namespace warpgrade::vgpu {

// Lanes that have exited, for synccheck.
struct ExitedLanes {
    std::uint32_t lanes = 0;
    std::uint32_t last = 0;                    // Split::last
    std::vector<const Insn*> rightly_skipped;  // barriers and collectives
};

// Where an undefined value comes from. If `space` is None, a shuffle read it from a lane that does not take part.
struct UndefinedOrigin {
    const Insn* insn = nullptr;
    ptx::Space space = ptx::Space::None;
    std::uint64_t address = 0;
    std::uint64_t copied = 0;        // the call in host code that copied it there
    const Insn* computed = nullptr;  // for an array: the first instruction that computed with it
};
struct UndefinedRegister {
    std::byte* place = nullptr;
    std::uint32_t lanes = 0;
    UndefinedOrigin origin;
    unsigned bytes = 0;  // per lane, of a parameter or result of a function; 0 for a register
    [[nodiscard]] bool lies_in(const std::byte* at, std::uint64_t size) const {
        return bytes != 0 && place < at + size && at < place + bytes;
    }
};
// The lanes of a store whose value is undefined, for each element of a vector.
struct StoredUndefined {
    std::uint32_t lanes[4] = {};
    unsigned elements = 1;
    [[nodiscard]] std::uint32_t any() const { return lanes[0] | lanes[1] | lanes[2] | lanes[3]; }
    // The lanes of the element that holds byte `at` of one lane's `bytes`.
    [[nodiscard]] std::uint32_t at_byte(std::uint64_t at, unsigned bytes) const {
        return lanes[at / (bytes / elements)];
    }
};
// The lanes of a load that found unwritten memory, for each element of a vector.
struct UndefinedLoad {
    std::uint32_t lanes[4] = {};
    UndefinedOrigin origin;
    [[nodiscard]] bool any() const { return lanes[0] | lanes[1] | lanes[2] | lanes[3]; }
};
// Thrown by the first instruction of a warp that sets an undefined register, after it is done; caught in
// checks/undefined.cpp.
struct UndefinedValueFound {};

struct PendingCopy {
    std::uint64_t granule = 0;
    std::uint32_t count = 0, lane = 0, group = 0;
};

// The marks of one block's shared memory.
struct SharedMarks {
    std::vector<Mark> writes, reads;
    unsigned shift = 0;
};

struct WarpWatch {
    Mark bound = 0, warp_bound = 0;  // see Observer
    bool fenced = false;             // has executed a fence in this block
    // Registers that hold unwritten values. While there are any, instructions run one by one and are checked.
    std::vector<UndefinedRegister> undefined;
    bool one_by_one = false;
    // Asynchronous copies to shared memory that no thread has waited for.
    std::vector<PendingCopy> copies;
    std::uint32_t copy_group = 0;                       // how many groups have been committed
    const StoredUndefined* stored_undefined = nullptr;  // of the running store; nullptr if all is defined
    UndefinedOrigin stored_origin;                      // origin of the running store's undefined value
    UndefinedLoad loaded;                               // of the running load
    // For each granule of local memory, the lanes that have written it; nullptr if no check needs it.
    std::uint32_t* local_written = nullptr;
    // Origins of undefined values stored in local memory, by granule and lane.
    std::unordered_map<std::uint64_t, UndefinedOrigin> local_origins;
    bool traced = false;             // its accesses are recorded (access_log.hpp)
    const Insn* exchange = nullptr;  // the running collective
    // Unwritten values that lanes give to others in the running collective.
    std::vector<UndefinedRegister> exchanged;
    std::vector<ExitedLanes> exited_lanes;

    // A block begins at time `now`.
    void begin(Mark now) {
        bound = warp_bound = now;
        undefined.clear();
        copies.clear();
        one_by_one = false;
        stored_undefined = nullptr;
        loaded = {};
        local_origins.clear();
    }
};

struct BlockWatch {
    // What sees accesses of shared memory: Marks for the checks, Trace where some warps are traced.
    enum SharedObserver : std::uint8_t { Nobody = 0, Marks = 1, Trace = 2 };
    std::uint8_t shared = Nobody;
    SharedMarks marks;        // of shared memory
    HostPages local_written;  // of all warps: see WarpWatch
    // Origins of undefined values stored in shared memory, by granule.
    std::unordered_map<std::uint64_t, UndefinedOrigin> came_from;
    Mark start = 0;                                 // of the block
    Mark turn = 0, settled = 0, settled_reads = 0;  // see Observer
    bool resumed = false;                           // other blocks had a turn since it began
    // Threads met a barrier in different places: barriers that they miss later follow from that.
    bool divergence_reported = false;
};

struct ExecutorWatch {
    bool values = false;    // racecheck or initcheck: memory is marked, and undefined values are followed
    bool accesses = false;  // touched bytes are noted, for the order of streams, or warps are traced
    bool any = false;       // racecheck, initcheck or synccheck
    Findings findings;
    const Insn* harmless_store = nullptr;  // the first in the code that would race if it stored another value
    // Racecheck has not seen all that may order the accesses: it takes barriers of some warps, and __syncwarp() of some
    // lanes, for those of all, and an unordered store that changes nothing for no race.
    bool order_may_matter = false;
    AccessNotes notes;
    AccessLog log;
    std::uint64_t now = 1;  // the clock of marks
    TurnLog turns;
    GranuleShape scratch_shape;
    // Threads that made their writes visible and then wrote here, for threads that wait for that; by address and block.
    struct SyncKey {
        std::uint64_t address, block;  // block + 1 of shared memory, else 0
        bool operator==(const SyncKey&) const = default;
        struct Hash {
            std::size_t operator()(const SyncKey& k) const { return (k.address ^ k.block << 40) * 0x9E3779B97F4A7C15u; }
        };
    };
    struct Release {
        std::uint64_t block = 0;
        std::uint32_t thread = 0;
        bool fenced = false;
    };
    std::unordered_map<SyncKey, Release, SyncKey::Hash> releases;
};

}  // namespace warpgrade::vgpu
