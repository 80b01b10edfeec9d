// The table of supported PTX: one row per form of an opcode, with everything that the rest needs to know of it. Each
// family of opcodes has a file in ops/ with its rows; decoding, checks, refusal messages and the page of supported
// opcodes are made from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/register_places.hpp"
#include "vgpu/ptx/names.hpp"

namespace warpgrade::vgpu {

class InsnBuilder;

// The minimum bytes of global or shared memory that one lane's access has. Checks watch memory in granules that no
// access crosses.
namespace granule {
inline constexpr std::uint8_t none = 0;       // accesses no such memory
inline constexpr std::uint8_t of_type = 255;  // the size of the instruction's type
}  // namespace granule

// What the decoder and the checks need to know of an opcode besides its handler. The defaults are those of arithmetic.
struct OpcodeFacts {
    Flow flow = Flow::Uses;
    std::uint8_t granule = granule::none;
    bool fence = false;                  // orders memory, whatever its modifiers
    Terminator ends = Terminator::Fall;  // how it ends its basic block; Collective: lanes execute it together
    bool orders_warp = false;            // a collective that orders memory between its lanes
    std::string_view function = {};      // the CUDA C++ function of a collective, if there is one
};

inline constexpr OpcodeFacts carries{.flow = Flow::Carries};

struct OpcodeRow {
    std::string_view mnemonic;     // "add"
    std::string_view required;     // modifiers that must all be present, space-separated: "lo", "wide", "cc"
    std::string_view types;        // accepted types of the operation: "s32 u32"; empty for untyped opcodes
    std::string_view optional;     // further modifiers that are allowed: "rn sat"
    std::string_view summary;      // what it does, for the page of supported opcodes
    void (*decode)(InsnBuilder&);  // nullptr if `facts.ends` says everything
    OpcodeFacts facts = {};
};

struct OpcodeFamily {
    std::string_view name;
    std::span<const OpcodeRow> rows;
};

// Unsupported PTX, with the reason. `required` lists modifiers, as in an OpcodeRow.
struct RefusedOpcode {
    std::string_view mnemonic, required;
    const char* reason;
};

// Everything that the decoder knows of opcodes. ops/opcodes.hpp has the only instance.
class OpcodeTable {
  public:
    struct Parts {
        std::span<const OpcodeFamily> families;
        std::span<const RefusedOpcode> refused;       // ignored where a row implements it
        std::span<const std::string_view> mnemonics;  // all of PTX
        Handler guarded;  // runs the `inner` handler of a guarded instruction for the lanes whose predicate holds
    };
    explicit OpcodeTable(const Parts& parts);

    [[nodiscard]] std::span<const OpcodeFamily> families() const { return parts_.families; }
    [[nodiscard]] std::span<const RefusedOpcode> refused() const { return refused_; }
    [[nodiscard]] Handler guarded() const { return parts_.guarded; }
    // The row for an instruction, or nullptr.
    [[nodiscard]] const OpcodeRow* find(const ptx::Instruction& instruction) const;
    // True if PTX has such an instruction.
    [[nodiscard]] bool is_mnemonic(std::string_view opcode) const;
    // The error for an instruction without a row; `text` is its name in full. It is invalid PTX if no PTX has it,
    // otherwise unsupported.
    [[nodiscard]] ptx::PtxError refusal_of(const ptx::Instruction& instruction, const std::string& text) const;

  private:
    Parts parts_;
    std::unordered_multimap<std::string_view, const OpcodeRow*> rows_;  // by mnemonic
    std::vector<RefusedOpcode> refused_;
};

class FunctionDecoder;

// Decodes one instruction: reads its modifiers and operands and checks them against the types that the opcode needs.
// Every failure throws a PtxError with the line.
class InsnBuilder {
  public:
    InsnBuilder(FunctionDecoder& function, const ptx::Instruction& instruction);

    const ptx::Instruction& in;
    FunctionDecoder& function;
    Insn out;

    [[nodiscard]] bool has(std::string_view modifier) const;
    [[nodiscard]] ptx::Type type(std::size_t index = 0) const;  // the index-th type modifier
    [[nodiscard]] std::size_t type_count() const { return types_.size(); }
    [[nodiscard]] std::size_t operand_count() const { return in.operands.size(); }
    void expect_operands(std::size_t least, std::size_t most) const;

    // The place of operand `index`. `bytes` is the register's width (2, 4, 8; predicates: predicate_…).
    Ref destination(std::size_t index, unsigned bytes);
    Ref destination(const ptx::Operand& operand, unsigned bytes);
    Ref source(std::size_t index, ptx::Type type);  // register, immediate, special or symbol address
    Ref source(const ptx::Operand& operand, ptx::Type type);
    Ref predicate_destination(const ptx::Operand& operand);
    // A predicate source; `negated` tells whether its negation is meant.
    Ref predicate_source(const ptx::Operand& operand, bool* negated);
    [[nodiscard]] unsigned register_bytes(const ptx::Operand& operand) const;  // 0 if it is not a register
    [[nodiscard]] const ptx::Operand& operand(std::size_t index) const;
    Ref constant(std::uint64_t bits, unsigned bytes);  // 32 lanes of an immediate
    Ref table(std::span<const Ref> entries);  // a table of operand places, for more operands than an Insn holds
    Ref sink(unsigned bytes);                 // a place that is written but never read
    Ref carry();                              // the condition code register: one bit per lane
    // Puts the address operand of a memory instruction into out.a and out.offset. Sets `narrow_bit` in out.form if the
    // address has 32 bits.
    void address(const ptx::Operand& operand, ptx::Space space, std::uint16_t narrow_bit);

    // The handler does not write every lane that executes it. Call this before destination().
    void skips_lanes() { skips_lanes_ = true; }

    void handlers(Handlers h) {
        out.full = h.full;
        out.masked = h.masked;
    }
    [[noreturn]] void refuse(const std::string& why) const;
    [[nodiscard]] std::string text() const;  // "add.s32"

  private:
    [[nodiscard]] RegisterAccess::Kind written() const;
    std::vector<ptx::Type> types_;
    bool skips_lanes_ = false;
};

}  // namespace warpgrade::vgpu
