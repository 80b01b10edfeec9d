// The state of a running warp, block and host thread, as the handlers see it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/access_notes.hpp"
#include "vgpu/caches.hpp"
#include "vgpu/code.hpp"
#include "vgpu/findings.hpp"
#include "vgpu/memory.hpp"
#include "vgpu/shadow.hpp"
#include "vgpu/site.hpp"

namespace warpgrade::vgpu {

class Grid;
struct Executor;
struct BlockState;

// A fault of the program that runs: ends the launch with a CUDA error. `lane` is the first lane at fault.
class Fault : public std::runtime_error {
  public:
    Fault(int error_code, const std::string& message, unsigned at_lane)
        : std::runtime_error(message), code(error_code), lane(at_lane) {}
    int code;
    unsigned lane;
    const Insn* insn = nullptr;  // where, if known
    std::uint32_t warp = 0;      // index in its block
    bool out_of_budget = false;  // stopped because it ran for too long
    // For the student; Grid adds what is left out: rule (launch/failed), message (what()), place and thread.
    device::Diagnostic diagnostic;
};

// Lanes of one warp that stand at the same place. A converged warp has one split.
struct Split {
    enum class State : std::uint8_t { Ready, AtBarrier, AtCollective };
    std::uint32_t pc = 0;  // basic block
    std::uint32_t mask = 0;
    std::uint32_t frame = 0;  // index into Warp::frames
    State state = State::Ready;
    std::uint8_t barrier = 0;   // which one it waits at
    bool deferred = false;      // let the others of this warp run first: it spins
    std::uint32_t members = 0;  // AtCollective: the lanes that have to come
    // The last basic block that these lanes ran, those of a mere jump or return aside. For synccheck.
    static constexpr std::uint32_t unknown = ~0u;
    std::uint32_t last = unknown;
    const Insn* waiting_insn = nullptr;  // the instruction that it waits at
};
static_assert(sizeof(Split) == 32);  // schedulers walk over them at every barrier

// Lanes that have exited, for synccheck.
struct Departure {
    std::uint32_t lanes = 0;
    std::uint32_t last = 0;            // Split::last
    std::vector<const Insn*> cleared;  // barriers and collectives that they rightly do not come to
};

struct Frame {
    std::byte* registers = nullptr;
    std::uint32_t function = 0;
    std::uint32_t caller = 0;  // frame index
    std::uint32_t return_pc = 0;
    std::uint32_t call_site = 0;
    std::uint32_t users = 0;  // lanes that have not returned; 0: free
    std::uint32_t storage_bytes = 0;
    std::uint32_t depth = 0;
    std::uint32_t local_offset = 0;  // of this activation in each thread's local memory
};

// Where an undefined value comes from. `space` None: a shuffle that read from a lane that takes no part.
struct UndefinedOrigin {
    const Insn* insn = nullptr;
    ptx::Space space = ptx::Space::None;
    std::uint64_t address = 0;
};
struct UndefinedRegister {
    std::byte* place = nullptr;
    std::uint32_t lanes = 0;
    UndefinedOrigin origin;
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

struct Warp {
    std::byte* base[4] = {};  // by Ref area: the running frame's registers, constants, specials, scratch
    Executor* executor = nullptr;
    BlockState* block = nullptr;
    std::byte* local = nullptr;         // local memory of this warp: lane-major
    std::uint32_t local_stride = 0;     // bytes of each lane's local memory
    std::uint32_t index = 0;            // in the block
    std::uint32_t live = 0;             // lanes that have not exited
    std::uint32_t sync_operations = 0;  // atomics and volatile accesses since this warp was scheduled
    std::uint64_t clock = 0;            // instructions that this warp has executed: %clock
    std::uint64_t slice_end = 0;        // of `clock`: then others have a turn, even if this warp does not synchronise
    std::uint32_t frame = 0;            // index of the running frame
    std::uint32_t participants = 0;     // of the running collective: lanes that execute it together
    std::uint32_t present = 0;          // of the running collective: lanes that are at it, whatever their masks
    Mark bound = 0, warp_bound = 0;     // see Observer
    bool fenced = false;                // has executed a fence in this block
    // Registers that hold what nothing has written. While there are any, instructions run one by one, with care.
    std::vector<UndefinedRegister> undefined;
    bool carefully = false;
    // Asynchronous copies to shared memory that nobody has waited for.
    std::vector<CopyUnderWay> copies;
    std::uint32_t copy_group = 0;        // how many groups have been committed
    std::uint32_t stored_undefined = 0;  // of the running store: lanes whose value is undefined
    UndefinedLoad loaded;                // of the running load
    const Insn* exchange = nullptr;      // the running collective
    std::vector<Split> splits;
    std::vector<Departure> departures;
    std::vector<Frame> frames;
    std::vector<AlignedBytes> frame_storage;  // of calls, by frame index
    std::uint64_t frame_storage_bytes = 0;
    std::vector<std::uint32_t> free_frames;  // that nobody uses; the last one freed is taken first
};

struct Barrier {
    std::uint32_t arrived = 0;    // threads
    std::uint32_t expected = 0;   // 0: all live threads of the block
    std::uint32_t count = 0;      // bar.red: threads whose predicate holds
    bool apart = false;           // others wait at another instruction than the first
    const Insn* first = nullptr;  // where the first threads wait
};

// The marks of one block's shared memory.
struct SharedMarks {
    std::vector<Mark> writes, reads;
    unsigned shift = 0;
};

struct BlockState {
    std::uint32_t x = 0, y = 0, z = 0;
    std::uint64_t linear = 0;
    std::byte* shared = nullptr;
    std::uint64_t shared_bytes = 0;
    std::uint32_t live_threads = 0;
    std::vector<Warp> warps;
    std::array<Barrier, 16> barriers{};
    std::uint32_t warps_done = 0;
    bool parted = false;   // threads met a barrier in different places: who misses later ones follows from that
    AlignedBytes storage;  // registers, specials and shared memory
    HostPages local;       // of all warps
    BlockL1 l1;
    bool watched = false;  // the observers want to know of accesses of shared memory
    SharedMarks marks;
    Mark start = 0;                                 // of the block
    Mark turn = 0, settled = 0, settled_reads = 0;  // see Observer
    bool resumed = false;                           // others had a turn since it began
};

// What one host thread needs to execute blocks of a launch; counters are summed over executors afterwards. Threads must
// not meet in a cache line: they count with every instruction.
struct alignas(128) Executor {
    Grid* grid = nullptr;
    const Code* code = nullptr;
    unsigned thread = 0;      // index of the host thread
    bool tracking = false;    // record what is read and written in global memory
    bool optimistic = false;  // what is done can be undone: a launch that turns out to need order starts again serially
    bool watching = false;    // racecheck or initcheck
    bool noting = false;      // the bytes that are touched, for the order of streams
    bool observed = false;    // one of the above: accesses of global memory take the way by note_observed
    bool checking = false;    // racecheck, initcheck or synccheck
    std::vector<MemorySite> memory;  // by Insn::stat
    PatternPool patterns;
    std::vector<std::uint64_t> block_warps, block_threads, block_divergent;  // by basic block
    std::uint64_t instructions = 0;                                          // not yet charged to the launch's budget
    std::uint64_t mapped_read_sectors = 0, mapped_write_sectors = 0;
    const std::byte* params = nullptr;
    std::uint64_t param_bytes = 0;
    GlobalMemory* global = nullptr;
    Findings findings;
    AccessNotes accesses;
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

template <class T>
inline T* operand(const Warp& w, Ref ref) {
    return reinterpret_cast<T*>(w.base[ref >> 30] + (ref & area::offset_mask));
}

inline std::uint32_t& predicate(const Warp& w, Ref ref) { return *operand<std::uint32_t>(w, ref); }

}  // namespace warpgrade::vgpu
