// What the checks remember of a running warp, block and host thread, beside what runs (state/warp.hpp). Where no check
// is switched on, nothing here is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/access/access_notes.hpp"
#include "vgpu/code/code.hpp"
#include "vgpu/shadow/findings.hpp"
#include "vgpu/shadow/marks.hpp"

namespace warpgrade::vgpu {

// Lanes that have exited, for synccheck.
struct Departure {
    std::uint32_t lanes = 0;
    std::uint32_t last = 0;            // Split::last
    std::vector<const Insn*> cleared;  // barriers and collectives that they rightly do not come to
};

// Where an undefined value comes from. `space` None: a shuffle that read from a lane that takes no part.
struct UndefinedOrigin {
    const Insn* insn = nullptr;
    ptx::Space space = ptx::Space::None;
    std::uint64_t address = 0;
    std::uint64_t copied = 0;        // the call that had copied it there, of the host's code
    const Insn* computed = nullptr;  // of an array: the first instruction that has computed with it
};
struct UndefinedRegister {
    std::byte* place = nullptr;
    std::uint32_t lanes = 0;
    UndefinedOrigin origin;
    unsigned bytes = 0;  // of a parameter or result of a function, for each lane; 0: it is a register
    [[nodiscard]] bool lies_in(const std::byte* at, std::uint64_t size) const {
        return bytes != 0 && place < at + size && at < place + bytes;
    }
};
// Lanes of a store whose value is undefined, by element of a vector.
struct StoredUndefined {
    std::uint32_t lanes[4] = {};
    unsigned elements = 1;
    [[nodiscard]] std::uint32_t any() const { return lanes[0] | lanes[1] | lanes[2] | lanes[3]; }
    // Of the element that holds byte number `at` of the `bytes` of one lane.
    [[nodiscard]] std::uint32_t at_byte(std::uint64_t at, unsigned bytes) const {
        return lanes[at / (bytes / elements)];
    }
};
// Lanes of a load that found what nothing has written, by element of a vector.
struct UndefinedLoad {
    std::uint32_t lanes[4] = {};
    UndefinedOrigin origin;
    [[nodiscard]] bool any() const { return lanes[0] | lanes[1] | lanes[2] | lanes[3]; }
};
// Thrown by the first instruction of a warp that sets such a register, after it is done; caught by WarpRunner.
struct RunCarefully {};

struct CopyUnderWay {
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
    // Registers that hold what nothing has written. While there are any, instructions run one by one, with care.
    std::vector<UndefinedRegister> undefined;
    bool carefully = false;
    // Asynchronous copies to shared memory that nobody has waited for.
    std::vector<CopyUnderWay> copies;
    std::uint32_t copy_group = 0;                       // how many groups have been committed
    const StoredUndefined* stored_undefined = nullptr;  // of the running store; nullptr: all is defined
    UndefinedOrigin stored_from;                        // and where that comes from
    UndefinedLoad loaded;                               // of the running load
    // Of local memory, by granule: the lanes that have written it; nullptr: nobody asks.
    std::uint32_t* local_written = nullptr;
    // Of undefined values that were stored there, by granule and lane: where they come from.
    std::unordered_map<std::uint64_t, UndefinedOrigin> local_from;
    const Insn* exchange = nullptr;  // the running collective
    // Of its lanes, those that give others what nothing has written.
    std::vector<UndefinedRegister> exchanged;
    std::vector<Departure> departures;

    // A block begins; `now`: its first moment.
    void begin(Mark now) {
        bound = warp_bound = now;
        undefined.clear();
        copies.clear();
        carefully = false;
        stored_undefined = nullptr;
        loaded = {};
        local_from.clear();
    }
};

struct BlockWatch {
    bool shared = false;      // accesses of shared memory are watched
    SharedMarks marks;        // of it
    HostPages local_written;  // of all warps: see WarpWatch
    // Of undefined values that were stored there, by granule: where they come from.
    std::unordered_map<std::uint64_t, UndefinedOrigin> came_from;
    Mark start = 0;                                 // of the block
    Mark turn = 0, settled = 0, settled_reads = 0;  // see Observer
    bool resumed = false;                           // others had a turn since it began
    bool parted = false;  // threads met a barrier in different places: who misses later ones follows from that
};

struct ExecutorWatch {
    bool values = false;    // racecheck or initcheck: memory is marked, and undefined values are followed
    bool accesses = false;  // the bytes that are touched are noted, for the order of streams
    bool any = false;       // racecheck, initcheck or synccheck
    Findings findings;
    AccessNotes notes;
    std::uint64_t now = 1;  // the clock of marks
    TurnLog turns;
    GranuleShape scratch_shape;
    // Where threads that had made their writes visible wrote last, for others that wait for it; by address and block.
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
