// A kernel decoded once for execution: instructions with their handlers and operand places, cut into basic blocks.
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
#include "vgpu/ptx/ast.hpp"
#include "vgpu/ptx/special_registers.hpp"

namespace warpgrade::vgpu {

inline constexpr unsigned warp_size = 32;
inline constexpr std::uint32_t full_mask = ~0u;

using ptx::Special;

struct Warp;
struct Insn;
// Executes one instruction for the lanes in `mask`. An instruction has two: `full` may assume all 32 lanes.
using Handler = void (*)(Warp&, const Insn&, std::uint32_t mask);
struct Handlers {
    Handler full, masked;
};

using Ref = std::uint32_t;
namespace area {
inline constexpr Ref registers = 0u << 30, constants = 1u << 30, specials = 2u << 30, scratch = 3u << 30;
inline constexpr Ref offset_mask = (1u << 30) - 1;
}  // namespace area

// What an instruction does with the values that it reads: for values that nothing has written.
enum class Flow : std::uint8_t {
    Uses,      // what happens depends on them
    Computes,  // the result does, and nothing else; the decoder tells these from Uses
    Carries,   // moves bits: the result is as good as they are
    Selects,   // the same, of one of a and b, by predicate c
    Loads,     // uses the address; the result is what lies in memory
    Stores,    // uses the address (a); memory is then what the value is
    Passes,    // the same of parameters and results of functions, whose place (a) no register holds: see param_form
    Receives   // loads those
};

// A register that an instruction reads or writes.
struct RegisterUse {
    std::uint32_t insn = 0;
    Ref place = 0;
    bool writes = false;
    bool predicate = false;
};

// What a handler finds of its instruction. Some fields have several names, one for each family of opcodes that uses
// them; an instruction has one of the names only:
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
    Handler inner = nullptr;  // of a guarded instruction: what runs for the lanes whose predicate holds
    Ref d = 0, a = 0, b = 0, c = 0;
    union {
        Ref e = 0;    // one source or result more
        Ref second;   // the predicate that is written besides d
        Ref carry;    // the condition code register
        Ref barrier;  // address of the mbarrier at which copied bytes arrive
    };
    Ref guard = 0;  // predicate of a guarded instruction or conditional branch
    // Only types of 64 bits: next to one of 32, as registers are, handlers would have to read it again in each lane.
    union {
        std::int64_t offset = 0;  // of a memory operand
        std::uint64_t value;      // an immediate that is the handler's
    };
    union {
        std::uint32_t memory_slot = 0;  // its first index into Code::stat_kinds and Executor::memory
        std::uint32_t collective;       // index into Code::collectives
        std::uint32_t lane_stride;      // bytes from one lane's parameter in the frame to the next one's
        std::uint32_t relations;        // between halves, that count as true
    };
    std::uint16_t form = 0;  // which form of its opcode, in bits that the family defines
    bool guard_negated = false;
    bool has_guard = false;
    Flow flow = Flow::Uses;

    // The collective's member mask.
    [[nodiscard]] Ref members() const { return static_cast<Ref>(value); }
    void set_members(Ref mask) { value = mask; }

    // The offsets of two memory operands.
    struct TwoOffsets {
        std::int32_t to, from;
    };
    [[nodiscard]] TwoOffsets two_offsets() const { return std::bit_cast<TwoOffsets>(value); }
    void set_two_offsets(TwoOffsets both) { value = std::bit_cast<std::uint64_t>(both); }
};
static_assert(sizeof(Insn) == 72);

// form of a load or store of functions' parameters: bits 0–2 the number of elements, 12 and 13 the bytes of each, as a
// power of 2.
namespace param_form {
inline constexpr std::uint16_t elements = 7, bytes_shift = 12;
}

// form of a selp.
namespace select_form {
inline constexpr std::uint16_t negated = 1;  // its predicate c
}

// Skip: the guard of a terminator that has none of its own; jumps over it. Counted as part of what it guards.
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

// form of a barrier's Insn. a: number of the barrier, b: threads (if counted), c: predicate, d: result.
namespace barrier_form {
inline constexpr std::uint16_t sync = 0, arrive = 1, popc = 2, all = 3, any = 4, kind = 7, counted = 8, negated = 16,
                               aligned = 32;  // all threads of a warp have to execute it together
}

// form of a collective's Insn (shuffle, vote, match, reduction, bar.warp.sync). a: what the lanes exchange.
namespace collective_form {
inline constexpr std::uint16_t negated = 4;  // the predicate source is
inline constexpr unsigned source_shift = 8;  // form >> 8: bytes of the source; 0: a predicate
}  // namespace collective_form

struct BasicBlock {
    std::uint32_t begin = 0, end = 0;  // instructions [begin, end); the terminator's own Insn, if any, stands at `end`
    Terminator terminator = Terminator::Fall;
    std::uint32_t target = 0;  // taken branch (block index); Call: index into Code::calls
    std::uint32_t size = 0;    // instructions counted when the block runs, terminator included
    bool conditional = false;  // Branch, Return, Exit, Trap with a guard
};

// Storage of one parameter or return value in a frame: 32 lanes, `stride` bytes apart.
struct ParameterSlot {
    static constexpr std::uint32_t no_address = ~0u;
    Ref storage = 0;
    std::uint32_t stride = 0, bytes = 0;
    std::uint32_t local =
        no_address;  // where a copy lies among the function's local variables, if its address is taken
};

struct CallSite {
    static constexpr std::uint32_t through_pointer = ~0u;
    std::uint32_t callee = 0;                       // index into Code::functions, or through_pointer, unless
    std::optional<Builtin> builtin;                 // printf and the like: then there is no callee
    std::vector<ParameterSlot> arguments, results;  // in the caller's frame
};

// What lanes do together. Equal opcodes are one.
struct Collective {
    std::string opcode;         // with modifiers: "shfl.sync.up.b32"
    std::string_view function;  // in CUDA C++: "__shfl_up_sync()"; empty if it has none
};

// What a memory instruction counts; one per instruction and host thread.
struct MemoryStats {
    std::uint64_t requests = 0;
    std::uint64_t sectors_or_wavefronts = 0;
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
    std::uint32_t local_end = 0;    // of its variables, without padding
    std::vector<ParameterSlot> parameters, returns;
};

// All code of one kernel, its callees included. Immutable once decoded; shared by all host threads.
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
    std::vector<std::byte> constants;              // the pool of immediates, 32 lanes each
    std::vector<StatKind> stat_kinds;              // of each memory instruction
    std::vector<std::uint32_t> stat_insns;         // its instruction
    std::vector<std::uint32_t> compare_and_swaps;  // slots of these instructions
    std::vector<std::uint32_t> stat_bytes;         // that a lane moves; 0: it is no plain load or store
    std::uint32_t used_specials = 0;               // bit per Special
    unsigned granule_shift = 2;             // granules of 2^this bytes hold every access of shared or global memory
    unsigned local_granule_shift = 2;       // the same of local memory
    bool orders_memory = false;             // has fences, or accesses that acquire and release
    bool talks_to_host = false;             // has volatile accesses, or those that order what the host sees
    std::uint32_t warp_sync = ~0u;          // the one of `collectives` that orders memory: __syncwarp()
    std::uint32_t static_shared_bytes = 0;  // as on a device: without the gaps between variables
    std::uint32_t local_bytes = 0;
    std::uint32_t register_estimate = 0;
    bool has_calls = false;
    bool synchronises_globally = false;  // may see other blocks' effects while it runs, or prints
    // By address. Between two variables is a gap that belongs to nobody, so that an index beyond one of them does not
    // find the next one. Each lies where it would without gaps, modulo 1 KiB: in the same bank, and as aligned.
    std::vector<SharedVariable> shared_variables;
    std::uint32_t dynamic_shared_begin = 0;  // where the dynamic part begins, behind a gap as well
    bool names_dynamic_shared = false;       // has an extern __shared__ array
};

}  // namespace warpgrade::vgpu
