// A kernel decoded for execution: instructions with their handlers and operand places, split into basic blocks.
//
// A register is a vector of 32 lanes (a predicate: one 32-bit mask). Operands are `Ref`s: byte offsets into one of
// three areas, chosen by the top two bits, so that a handler reads registers, immediates and special registers alike.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/code/builtins.hpp"
#include "vgpu/model/machine_cost.hpp"
#include "vgpu/ptx/ast.hpp"
#include "vgpu/ptx/special_registers.hpp"

namespace warpgrade::vgpu {

inline constexpr unsigned warp_size = 32;
inline constexpr std::uint32_t full_mask = ~0u;

using ptx::Special;

struct Warp;
struct Insn;
// Executes one instruction for the lanes in `mask`. Each instruction has two handlers; `full` may assume all 32 lanes.
using Handler = void (*)(Warp&, const Insn&, std::uint32_t mask);
struct Handlers {
    Handler full, masked;
};

using Ref = std::uint32_t;
namespace area {
inline constexpr Ref registers = 0u << 30, constants = 1u << 30, specials = 2u << 30, scratch = 3u << 30;
inline constexpr Ref offset_mask = (1u << 30) - 1;
}  // namespace area

// How undefined values flow through an instruction.
enum class Flow : std::uint8_t {
    Uses,      // its effect depends on the values
    Computes,  // only its result depends on them; the decoder tells these from Uses
    Carries,   // moves bits: the result is as undefined as the source
    Selects,   // carries a or b, chosen by predicate c
    Loads,     // uses the address; the result is what memory holds
    Stores,    // uses the address (a); memory becomes as undefined as the value
    Passes,    // stores parameters or results of functions at a place (a) that is not a register: see param_form
    Receives   // loads them
};

// A register that an instruction reads or writes.
struct RegisterUse {
    std::uint32_t insn = 0;
    Ref place = 0;
    bool writes = false;
    bool predicate = false;
};

// A decoded instruction, as its handler reads it. Some fields have several names, one for each family of opcodes that
// uses them; an instruction uses only one of them:
//
//   family                        e                offset          memory_slot       form
//   arithmetic, bits, conversion  carry: add.cc …  value           -                 rounding and the like
//   comparison, selection         second           value: of true  relations: halves SetpForm, select_form
//   loads, stores                 (below)          offset          memory_slot       form, in ops/memory.cpp
//   parameters of functions       (below)          offset          lane_stride       the same
//   atomics, matrices, images     -                offset          memory_slot       in their files
//   asynchronous copies           barrier: bulk    two_offsets()   memory_slot (+ 1) form, in ops/async.cpp
//   collectives                   second           members()       collective        collective_form
//   barriers                      -                -               -                 barrier_form
//
// The registers of a vector, such as ld.v4's, are d, b, c and e.
struct Insn {
    Handler full = nullptr, masked = nullptr;
    Handler inner = nullptr;  // of a guarded instruction: the handler that runs for the lanes whose predicate holds
    Ref d = 0, a = 0, b = 0, c = 0;
    union {
        Ref e = 0;    // one source or result more
        Ref second;   // a second predicate to write, besides d
        Ref carry;    // the condition code register
        Ref barrier;  // address of the mbarrier at which copied bytes arrive
    };
    Ref guard = 0;  // predicate of a guarded instruction or conditional branch
    // Only 64-bit types: next to a 32-bit member, which registers are too, handlers would have to read it again for
    // each lane.
    union {
        std::int64_t offset = 0;  // of a memory operand
        std::uint64_t value;      // an immediate for the handler
    };
    union {
        std::uint32_t memory_slot = 0;  // first index into Code::stat_kinds and Executor::memory
        std::uint32_t collective;       // index into Code::collectives
        std::uint32_t lane_stride;      // bytes from one lane's parameter in the frame to the next one's
        std::uint32_t relations;        // between halves: those that count as true
    };
    std::uint16_t form = 0;  // variant of its opcode, in bits that the family defines
    bool guard_negated = false;
    bool has_guard = false;
    Flow flow = Flow::Uses;
    std::uint16_t same_addresses = 0;  // see equal_addresses.hpp

    // The member mask of a collective.
    [[nodiscard]] Ref members() const { return static_cast<Ref>(value); }
    void set_members(Ref mask) { value = mask; }

    // The offsets of both memory operands of a copy.
    struct TwoOffsets {
        std::int32_t to, from;
    };
    [[nodiscard]] TwoOffsets two_offsets() const { return std::bit_cast<TwoOffsets>(value); }
    void set_two_offsets(TwoOffsets both) { value = std::bit_cast<std::uint64_t>(both); }
};
static_assert(sizeof(Insn) == 72);

// Insn::form of a load or store of function parameters: bits 0–2 hold the number of elements, bits 12 and 13 the bytes
// of each as a power of 2.
namespace param_form {
inline constexpr std::uint16_t elements = 7, bytes_shift = 12;
}

// Insn::form of a selp.
namespace select_form {
inline constexpr std::uint16_t negated = 1;  // its predicate c is negated
}

// Skip jumps over the next terminator, whose guard the scheduler does not know, for the lanes whose predicate does not
// hold. It is counted as part of that terminator.
enum class Terminator : std::uint8_t {
    Fall,
    Branch,
    Skip,
    Return,
    Exit,
    Barrier,
    Collective,
    Call,
    BranchIndexed,
    Trap
};

// Insn::form of a barrier. a: number of the barrier, b: threads (if counted), c: predicate, d: result.
namespace barrier_form {
inline constexpr std::uint16_t sync = 0, arrive = 1, popc = 2, all = 3, any = 4, kind = 7, counted = 8, negated = 16,
                               aligned = 32;  // all threads of a warp must execute it together
}

// Insn::form of a collective (shuffle, vote, match, reduction, bar.warp.sync). a: the value that the lanes exchange.
namespace collective_form {
inline constexpr std::uint16_t negated = 4;  // the predicate source is negated
inline constexpr unsigned source_shift = 8;  // form >> 8: bytes of the source; 0 if it is a predicate
}  // namespace collective_form

struct BasicBlock {
    std::uint32_t begin = 0, end = 0;  // instructions [begin, end); a terminator with an Insn of its own has it at
                                       // `end`
    Terminator terminator = Terminator::Fall;
    std::uint32_t target = 0;  // taken branch (block index); Call: index into Code::calls
    std::uint32_t size = 0;    // instructions counted when the block runs, including the terminator
    MachineCost cost;          // of its instructions
    bool conditional = false;  // Branch, Return, Exit, Trap with a guard
    // See machine_code.hpp. Of a branch that becomes predicates: the block where its sides meet; else 0. And the first
    // of the blocks that so become one.
    std::uint32_t predicated_until = 0, stretch = 0;
    std::uint32_t turns = 1;  // of a loop that ptxas unrolls: so many are one block then
    std::uint64_t path = 0;   // how long one warp takes for these, in quarters of the latency of an addition
    // See block_costs.hpp. What a warp that runs it gives its multiprocessor, in tenths of issue slots, and how long it
    // takes for it, loads included, in quarters of the latency of an addition.
    std::uint32_t issue_tenths = 0, time = 0;
};

// Storage of one parameter or return value in a frame: 32 lanes, `stride` bytes apart.
struct ParameterSlot {
    static constexpr std::uint32_t no_address = ~0u;
    Ref storage = 0;
    std::uint32_t stride = 0, bytes = 0;
    std::uint32_t local = no_address;  // a copy's offset among the function's local variables, if its address is taken
};

struct CallSite {
    static constexpr std::uint32_t through_pointer = ~0u;
    std::uint32_t callee = 0;        // index into Code::functions, or through_pointer; unused for a builtin
    std::optional<Builtin> builtin;  // printf and similar, which have no callee
    std::vector<ParameterSlot> arguments, results;  // in the caller's frame
};

// An operation that lanes execute together. All collectives with the same opcode share one entry.
struct Collective {
    std::string opcode;         // with modifiers: "shfl.sync.up.b32"
    std::string_view function;  // in CUDA C++: "__shfl_up_sync()"; empty if it has none
};

// This load is in flight beside `head`. If that is itself, its warp waits for it, for those of so many turns of its
// loop at once.
struct LoadWait {
    std::uint32_t insn = 0, head = 0, turns = 0;
};

// A load of constant memory from one address for all lanes (constant_loads.hpp): so many of its `of` values.
struct UniformLoad {
    std::uint32_t insn = 0, shared = 0, of = 1;
};

// One of so many loads of shared memory that ptxas makes one of, which brings so many words.
struct MergedLoad {
    std::uint32_t insn = 0, of = 1, words = 1;
};

// The counters of one memory instruction on one host thread.
struct MemoryStats {
    std::uint64_t requests = 0;
    std::uint64_t sectors_or_wavefronts = 0;
    // Further wavefronts; of atomics and loads of constant memory their cycles, of loads of global memory their cycles
    // in L1, of stores their lines.
    std::uint64_t conflicts = 0;
    std::uint64_t l1_hits = 0;  // sectors
    void add(std::uint64_t units, std::uint64_t conflicting = 0) {
        ++requests;
        sectors_or_wavefronts += units;
        conflicts += conflicting;
    }
};

enum class StatKind : std::uint8_t {
    GlobalLoad,
    GlobalStore,
    LocalLoad,
    LocalStore,
    SharedLoad,
    SharedStore,
    GlobalAtomic,
    SharedAtomic,
    ConstantLoad,
    TextureLoad,
    SurfaceLoad,
    SurfaceStore,
    None,
};

// A static variable of shared memory.
struct SharedVariable {
    std::string name;
    std::uint32_t begin = 0, bytes = 0;
};

struct FunctionCode {
    std::string name;
    std::uint32_t entry_block = 0;
    std::uint32_t first_block = 0, end_block = 0;
    std::uint32_t frame_bytes = 0;  // registers and parameter storage of one activation, 32 lanes
    std::uint32_t local_bytes = 0;  // per thread
    std::uint32_t local_end = 0;    // end of its variables, without padding
    std::vector<ParameterSlot> parameters, returns;
};

// What in a kernel may do otherwise when memory holds other data; see data_dependence.hpp.
struct DataDependence {
    enum class On : std::uint8_t {
        nothing,  // no instruction: all accesses are the same with any data
        address,  // where memory is accessed, or whether
        branch,   // whether accesses, barriers or the thread's end lie on its way
        order,    // what other threads do at that moment: fences, volatile accesses
        calls     // not known
    };
    On on = On::nothing;
    std::uint32_t insn = 0;
    // Stores whose value is the same with any data, by index: such as of a flag, which many threads may set.
    std::vector<std::uint32_t> fixed_stores;
};

// All code of one kernel and its callees. Immutable once decoded; shared by all host threads.
struct Code {
    std::vector<Insn> insns;
    std::vector<ptx::LocationId> locations;  // parallel to insns
    std::vector<std::uint32_t> ptx_lines;    // parallel to insns
    std::vector<RegisterUse> uses;           // by instruction
    std::vector<BasicBlock> blocks;
    std::vector<FunctionCode> functions;  // [0] is the kernel
    std::vector<CallSite> calls;
    std::unordered_map<std::uint64_t, std::uint32_t>
        function_at;  // address → index, if functions are called by pointer
    std::vector<Collective> collectives;
    std::vector<std::vector<std::uint32_t>> branch_tables;
    std::vector<std::byte> constants;                           // pool of immediates, 32 lanes each
    std::vector<StatKind> stat_kinds;                           // by memory slot
    std::vector<std::uint32_t> stat_insns;                      // by memory slot: the index of the instruction
    std::vector<std::uint32_t> compare_and_swaps;               // memory slots of these instructions
    std::vector<std::uint32_t> chained_loads, irregular_loads;  // instructions; see chains.hpp
    std::vector<LoadWait> load_waits;                           // the same
    std::vector<MergedLoad> merged_loads;                       // see machine_code.hpp
    std::vector<std::uint32_t> following_stores;                // likewise; instructions
    std::vector<UniformLoad> uniform_loads;
    DataDependence data_dependence;
    bool any_order = false;  // without races, its results do not depend on the order of threads (see any_order.hpp)
    std::vector<std::uint32_t> stat_bytes;  // by memory slot: bytes that a lane moves; 0 if it is not a plain load or
                                            // store
    std::uint32_t used_specials = 0;        // one bit per Special
    unsigned granule_shift = 2;             // no access of shared or global memory crosses a granule of 2^this bytes
    unsigned local_granule_shift = 2;       // the same for local memory
    bool orders_memory = false;             // has fences, or accesses that acquire and release
    std::vector<bool> read_arguments;       // by byte of a launch's arguments; what follows the last one is not read
    bool talks_to_host = false;             // has volatile accesses, or accesses whose order the host can see
    std::uint32_t warp_sync = ~0u;          // index into `collectives` of the one that orders memory: __syncwarp()
    std::uint32_t static_shared_bytes = 0;  // as on a device: without gaps between variables
    std::uint32_t local_bytes = 0;
    std::uint32_t register_estimate = 0;
    bool has_calls = false;
    bool needs_whole_warps = false;      // has instructions that all lanes of a warp execute together, such as mma
    bool synchronises_globally = false;  // may see other blocks' effects while it runs, or prints
    bool polls = false;                  // may wait for other blocks (polls.hpp)
    // By address. A gap that belongs to nobody separates two variables, so that an index beyond one does not reach the
    // next. Each variable keeps its address without gaps modulo 1 KiB: it stays in the same bank and equally aligned.
    std::vector<SharedVariable> shared_variables;
    std::uint32_t dynamic_shared_begin = 0;  // the dynamic part begins here, also after a gap
    bool names_dynamic_shared = false;       // has an extern __shared__ array
};

}  // namespace warpgrade::vgpu
