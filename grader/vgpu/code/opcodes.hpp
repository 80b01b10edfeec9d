// The table of supported PTX: one row an opcode form, with all that is known of it. Each family of opcodes stands in a
// file of its own in ops/ with its rows; decoding, checks, refusal messages and the page of supported opcodes are made
// from these rows.
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

// Bytes of global or shared memory that one lane's access has at least: those who watch memory do it in granules that
// no access cuts.
namespace granule {
inline constexpr std::uint8_t none = 0;       // accesses no such memory
inline constexpr std::uint8_t of_type = 255;  // those of the type that the instruction names
}  // namespace granule

// What decoder and checks have to know of an opcode besides its handler. What is not said holds for arithmetic.
struct OpcodeFacts {
    Flow flow = Flow::Uses;
    std::uint8_t granule = granule::none;
    bool fence = false;                  // orders memory, whatever its modifiers say
    Terminator ends = Terminator::Fall;  // its basic block, in this way; Collective: lanes execute it together
    bool orders_warp = false;            // of a collective: orders memory between its lanes
    std::string_view function = {};      // of a collective: what it is in CUDA C++, if that has a function for it
};

inline constexpr OpcodeFacts carries{.flow = Flow::Carries};

struct OpcodeRow {
    std::string_view mnemonic;     // "add"
    std::string_view required;     // modifiers that must all be there, space-separated: "lo", "wide", "cc"
    std::string_view types;        // accepted types of the operation: "s32 u32"; empty for untyped opcodes
    std::string_view optional;     // further modifiers that may be there: "rn sat"
    std::string_view summary;      // what it does, for the page
    void (*decode)(InsnBuilder&);  // nullptr: `facts.ends` says all
    OpcodeFacts facts = {};
};

struct OpcodeFamily {
    std::string_view name;
    std::span<const OpcodeRow> rows;
};

// PTX that has no row, with the reason. `required`: modifiers, as in an OpcodeRow.
struct RefusedOpcode {
    std::string_view mnemonic, required;
    const char* reason;
};

// All that the decoder knows of opcodes; ops/opcodes.hpp has the one that there is.
class OpcodeTable {
  public:
    struct Parts {
        std::span<const OpcodeFamily> families;
        std::span<const RefusedOpcode> refused;       // passed over where a row runs it all the same
        std::span<const std::string_view> mnemonics;  // all of PTX's
        Handler guarded;  // of an instruction with a guard: runs `inner` for the lanes whose predicate holds
    };
    explicit OpcodeTable(const Parts& parts);

    [[nodiscard]] std::span<const OpcodeFamily> families() const { return parts_.families; }
    [[nodiscard]] std::span<const RefusedOpcode> refused() const { return refused_; }
    [[nodiscard]] Handler guarded() const { return parts_.guarded; }
    // The row for an instruction, or nullptr.
    [[nodiscard]] const OpcodeRow* find(const ptx::Instruction& instruction) const;
    // Is it an instruction of PTX at all?
    [[nodiscard]] bool is_mnemonic(std::string_view opcode) const;
    // What to say of an instruction without a row; `text` is how it reads. It is invalid if no PTX has it, else it is
    // only that the virtual GPU does not.
    [[nodiscard]] ptx::PtxError refusal_of(const ptx::Instruction& instruction, const std::string& text) const;

  private:
    Parts parts_;
    std::unordered_multimap<std::string_view, const OpcodeRow*> rows_;  // by mnemonic
    std::vector<RefusedOpcode> refused_;
};

class FunctionDecoder;

// One instruction being decoded: access to its modifiers and operands, checked against the types that the opcode needs.
// Every failure throws PtxError with the line.
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

    // Places of operand `index`. `bytes` is the register width (2, 4, 8; predicates: pred_…).
    Ref destination(std::size_t index, unsigned bytes);
    Ref destination(const ptx::Operand& operand, unsigned bytes);
    Ref source(std::size_t index, ptx::Type type);  // register, immediate, special or symbol address
    Ref source(const ptx::Operand& operand, ptx::Type type);
    Ref predicate_destination(const ptx::Operand& operand);
    // A predicate source; a negated one is given through a scratch register that is computed before this instruction.
    Ref predicate_source(const ptx::Operand& operand, bool* negated);
    [[nodiscard]] unsigned register_bytes(const ptx::Operand& operand) const;  // 0 if it is no register
    [[nodiscard]] const ptx::Operand& operand(std::size_t index) const;
    Ref constant(std::uint64_t bits, unsigned bytes);  // 32 lanes of an immediate
    Ref table(std::span<const Ref> entries);           // places of more operands than an Insn holds
    Ref sink(unsigned bytes);                          // a place nobody reads
    Ref carry();                                       // the condition code register: one bit a lane
    // The address operand of a memory instruction into out.a and out.offset; sets `narrow_bit` of form for a 32-bit
    // one.
    void address(const ptx::Operand& operand, ptx::Space space, std::uint16_t narrow_bit);

    // The handler does not write every lane that executes it. To be said before destination().
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
