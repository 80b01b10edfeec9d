// Turns the parsed PTX of a kernel into Code: places for registers, basic blocks, handlers from the opcode table.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "vgpu/code/calls.hpp"
#include "vgpu/code/code.hpp"
#include "vgpu/code/opcodes.hpp"
#include "vgpu/code/register_places.hpp"

namespace warpgrade::vgpu {

// The addresses of a module's variables, and of its functions, for pointers to them.
struct SymbolPlace {
    ptx::Space space = ptx::Space::Global;  // None: a function
    std::uint64_t address = 0, bytes = 0;
    bool operator==(const SymbolPlace&) const = default;
};
using SymbolTable = std::unordered_map<std::string, SymbolPlace>;

// Decodes the kernel and every function that it can reach. Unsupported PTX throws a PtxError with its line.
// `steps`: an access of memory ends its basic block, so that another warp can run behind it. `saved`: see
// add_call_cost.
Code decode_kernel(const ptx::Module& module, const ptx::Function& kernel, const SymbolTable& symbols,
                   const OpcodeTable& opcodes, bool steps = false, const SavedRegisters* saved = nullptr);

enum class AccessClass : std::uint8_t { Load, Store, Atomic };

struct ParameterPlace {
    bool kernel = false;  // the parameter is at `offset` in the launch's parameter block
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
    Ref storage = 0;  // otherwise in the frame: 32 lanes, `stride` bytes apart
    std::uint32_t stride = 0;
};

// The offset of each parameter in a parameter list, and the total size.
std::vector<std::uint32_t> parameter_offsets(const std::vector<ptx::Parameter>& parameters, std::uint32_t* total);

struct PendingCall {
    std::uint32_t site;
    std::string callee;
    std::vector<std::string> arguments, results;  // the caller's .param variables
    std::uint32_t caller;
    std::uint32_t ptx_line;
};

// State that the functions of one kernel share while they are decoded.
class CodeBuilder {
  public:
    CodeBuilder(const ptx::Module& m, const SymbolTable& s, const OpcodeTable& o, bool in_steps)
        : module(m), symbols(s), opcodes(o), steps(in_steps) {}
    const ptx::Module& module;
    const SymbolTable& symbols;
    const OpcodeTable& opcodes;
    const bool steps;
    Code code;
    std::map<std::pair<std::uint64_t, unsigned>, Ref> constants;
    std::unordered_map<std::string, std::uint32_t> function_index;  // decoded or queued
    std::vector<const ptx::Function*> queue;
    std::unordered_map<std::string, std::uint32_t> shared;  // static shared variables: offsets
    std::vector<PendingCall> pending;
    std::vector<std::unordered_map<std::string, ParameterPlace>> parameters;  // by function index
    std::vector<std::vector<RegisterAccess>> accesses;                        // by function index
    // By function index, in the second pass: a kernel is decoded twice, first to see when each register is needed.
    std::vector<std::optional<RegisterPlaces>> places;

    Ref constant(std::uint64_t bits, unsigned bytes);
    Ref table(std::span<const Ref> entries);
    std::uint32_t function(const ptx::Function& f);
    void read_argument(const ParameterPlace& place, std::size_t from, std::size_t bytes);
    void place_shared(const ptx::Variable& v);
    void place_dynamic_shared();  // once all static ones are placed
};

class FunctionDecoder {
  public:
    FunctionDecoder(CodeBuilder& builder, const ptx::Function& function, std::uint32_t index);
    void decode();

    CodeBuilder& builder;
    const ptx::Function& function;

    // For InsnBuilder and the families.
    Ref register_place(std::uint32_t reg, std::uint32_t ptx_line, RegisterAccess::Kind access);
    [[nodiscard]] unsigned register_bytes(std::uint32_t reg) const;  // 0 for a predicate
    [[nodiscard]] bool is_predicate(std::uint32_t reg) const;
    // False only in the second pass.
    [[nodiscard]] bool is_read(const ptx::Operand& destination) const;
    // True if all threads of a block are known to have the same address there.
    [[nodiscard]] bool is_uniform(const ptx::Operand& address);
    Ref sink(unsigned bytes);
    Ref carry();
    std::optional<ParameterPlace> parameter(const std::string& name) const;
    std::optional<SymbolPlace> symbol(const std::string& name) const;  // local, shared, global, constant, function
    [[nodiscard]] bool is_kernel() const { return index_ == 0; }
    std::uint32_t statistics(ptx::Space space, AccessClass access);
    std::uint32_t statistics(StatKind kind);  // one slot
    void synchronises_globally() { builder.code.synchronises_globally = true; }
    [[nodiscard]] BasicBlock& block() { return builder.code.blocks.back(); }  // the one being decoded
    [[nodiscard]] std::uint32_t block_at(std::uint32_t instruction, std::uint32_t ptx_line) const;
    void add_call(CallSite site, PendingCall call);  // at the end of block()

  private:
    void place_variables();
    void split_blocks();
    [[nodiscard]] Terminator ends(std::uint32_t position) const;  // how the instruction ends its block
    // True for a terminator whose guard the scheduler does not know.
    [[nodiscard]] bool needs_skip(std::uint32_t position) const;
    void decode_instruction(std::uint32_t position);
    void decode_terminator(std::uint32_t position);
    void decode_skip(std::uint32_t position);
    void apply_guard(const ptx::Instruction& in, Insn& out);
    void note_memory(const InsnBuilder& b, const OpcodeRow& row, std::size_t first_slot);
    std::uint32_t collective(const std::string& text, const OpcodeFacts& facts);
    void append(const Insn& out, const ptx::Instruction& in);
    Ref allocate(std::uint32_t bytes, std::uint32_t align);

    std::uint32_t index_;
    std::vector<const OpcodeRow*> rows_;  // by instruction; nullptr if it has none
    std::uint32_t frame_bytes_ = 0, local_bytes_ = 0, local_end_ = 0;
    std::vector<Ref> places_;
    std::optional<std::vector<bool>> uniform_;  // registers, once somebody asks
    std::optional<Ref> sink_;
    Ref carry_ = 0;
    std::unordered_map<std::string, std::uint32_t> locals_;
    std::vector<bool> leader_;
    std::vector<std::uint32_t> block_of_;  // instruction → index of the block that begins there
};

}  // namespace warpgrade::vgpu
