// A parsed PTX module: names are resolved, nothing is interpreted. The parser knows PTX's grammar and scopes, not its
// opcodes; the decoder of a kernel decides what an opcode with its modifiers means and whether it is supported.
//
// Register scopes (nvcc's inline assembly opens `{ .reg .pred %p1; … }` blocks that shadow outer registers) and label
// scopes are resolved here: every declared register has one index in its function, every label one instruction index.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpgrade::vgpu::ptx {

enum class Space : std::uint8_t { None, Generic, Global, Shared, Local, Const, Param };

// clang-format off
enum class Type : std::uint8_t {
    None, Pred,
    B8, B16, B32, B64, B128,
    U8, U16, U32, U64,
    S8, S16, S32, S64,
    F16, F16x2, BF16, BF16x2, F32, F64,
};
// clang-format on

// Size of one element in bytes; Pred and None are 0.
std::uint32_t size_of(Type type);
const char* name_of(Type type);  // "f32"; without the dot
inline bool is_floating(Type type) { return type >= Type::F16; }

// A source location: an index into Module::locations, 0 for none.
using LocationId = std::uint32_t;
struct Location {
    std::uint32_t file = 0, line = 0, column = 0;  // `file` is PTX's .file index, see Module::file_name
    LocationId inlined_at = 0;                     // the frame that this one was inlined into, 0 for none
};

struct Operand {
    enum class Kind : std::uint8_t {
        None,       // also the sink `_`
        Register,   // reg; negated for `!%p1`
        Immediate,  // imm: integer as 64-bit two's complement, or the raw bits of a float (imm_type F32/F64)
        Address,    // [reg+offset], [symbol+offset] or [imm]; `reg` and `symbol` say which
        Symbol,     // a variable, parameter or function by name, with offset
        Special,    // %tid.x, %laneid, %clock64 …: symbol holds the name with the %
        Label,      // target: index into Function::body
        Vector,     // {a, b, …}: elements
        Pair,       // d|p: elements[0] and elements[1]
    };
    static constexpr std::uint32_t no_register = ~0u;

    Kind kind = Kind::None;
    bool negated = false;
    std::uint32_t reg = no_register;  // index into Function::registers
    Type imm_type = Type::None;       // None: integer
    std::uint64_t imm = 0;
    std::int64_t offset = 0;
    std::uint32_t target = 0;
    std::string symbol;
    std::vector<Operand> elements;
};

struct Instruction {
    std::string opcode;                  // "ld"
    std::vector<std::string> modifiers;  // "global", "nc", "v4", "f32": in order, no dots ("L1::no_allocate" whole)
    std::uint32_t guard = Operand::no_register;  // the predicate of `@%p`
    bool guard_negated = false;
    std::vector<Operand> operands;  // in PTX's order, destination first
    LocationId location = 0;
    std::uint32_t ptx_line = 0;  // 1-based line in the PTX text

    // For call: operands are [Vector of return params (or None)], Symbol or Register callee, [Vector of arguments],
    // and, for indirect calls, a Symbol naming the prototype or the .calltargets list.
    [[nodiscard]] bool is_call() const { return opcode == "call"; }
};

struct Register {
    std::string name;
    Type type;
};

// An address in an initialiser: `bytes` (8 or 4) at `offset` hold the address of symbol + addend.
struct Relocation {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 8;
    std::string symbol;
    std::int64_t addend = 0;
    bool generic = false;  // generic(symbol)
};

struct Variable {
    std::string name;
    Space space = Space::Global;
    Type type = Type::B8;
    std::uint32_t align = 1;
    std::uint64_t bytes = 0;  // 0 for `extern .shared s[]`
    bool is_extern = false, is_weak = false, is_visible = false, is_managed = false;
    std::vector<std::uint8_t> initial;  // empty, or `bytes` long
    std::vector<Relocation> relocations;
    std::uint32_t ptx_line = 0;
};

struct Parameter {
    std::string name;
    Type type = Type::B8;
    std::uint32_t align = 1;
    std::uint64_t bytes = 0;
};

struct Prototype {  // of .callprototype
    std::string name;
    std::vector<Parameter> returns, parameters;
};

struct Function {
    std::string name;
    bool is_entry = false;
    bool is_declaration = false;  // no body: extern, or a forward declaration
    bool is_weak = false, is_visible = false;
    std::vector<Parameter> returns;  // of a .func
    std::vector<Parameter> parameters;
    std::vector<Register> registers;
    std::vector<Variable> variables;  // .local, .shared (demoted) and .param (call arguments), unique names
    std::vector<Instruction> body;
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> branch_targets;  // .branchtargets: label → indices
    std::vector<std::pair<std::string, std::vector<std::string>>> call_targets;      // .calltargets
    std::vector<Prototype> prototypes;
    std::vector<std::uint32_t> nounroll;  // indices of the instructions after .pragma "nounroll"
    std::uint32_t max_ntid[3] = {0, 0, 0}, req_ntid[3] = {0, 0, 0};  // 0: not specified
    std::uint32_t min_nctapersm = 0;
    std::uint32_t ptx_line = 0;
};

struct Module {
    int version_major = 0, version_minor = 0;
    int target = 0;           // 90 for sm_90 and sm_90a
    std::string target_name;  // "sm_90a"
    int address_bits = 64;
    std::vector<Variable> variables;
    std::vector<Function> functions;
    std::vector<Location> locations{Location{}};  // [0] is "none"
    std::vector<std::pair<std::uint32_t, std::string>> files;

    [[nodiscard]] const Function* find_function(const std::string& name) const;  // the definition if there is one
    [[nodiscard]] const std::string* file_name(std::uint32_t index) const;
    // The outermost frame of a location: the line in the student's file that holds an inlined call.
    [[nodiscard]] Location outermost(LocationId location) const;
    // The innermost frame in a file of the outermost frame's folder: the line of the student's own code that runs, even
    // inside one of their inlined functions.
    [[nodiscard]] Location innermost_own(LocationId location) const;
};

// An error in a PTX text, with its line. Thrown by parse() and by the decoder. `invalid`: no device runs the text, and
// its author is to blame. `unsupported`: the virtual GPU lacks something.
class PtxError : public std::runtime_error {
  public:
    enum class Kind : std::uint8_t { invalid, unsupported };
    PtxError(std::uint32_t line, const std::string& message, Kind error_kind = Kind::invalid)
        : std::runtime_error("PTX line " + std::to_string(line) + ": " + message), ptx_line(line), kind(error_kind) {}
    std::uint32_t ptx_line;
    Kind kind;
};

}  // namespace warpgrade::vgpu::ptx
