#include <fmt/format.h>

#include <algorithm>

#include "vgpu/code/decoder.hpp"
#include "vgpu/code/opcodes.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;
using ptx::PtxError;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

bool is_float(Type t) { return t == Type::F32 || t == Type::F64; }

std::uint64_t immediate_bits(const Operand& o, Type t) {
    if (o.imm_type == Type::None) {
        if (t == Type::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(o.imm)));
        if (t == Type::F64) return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(o.imm)));
        return o.imm;
    }
    if (o.imm_type == Type::F32 && t == Type::F64)
        return std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.imm))));
    if (o.imm_type == Type::F64 && (t == Type::F32 || ptx::size_of(t) == 4))
        return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.imm)));
    return o.imm;
}

}  // namespace

InsnBuilder::InsnBuilder(FunctionDecoder& f, const ptx::Instruction& instruction) : in(instruction), function(f) {
    for (const auto& m : in.modifiers)
        if (const Type t = ptx::parse_type(m); t != Type::None) types_.push_back(t);
}

// A guarded instruction keeps the old values in the lanes that are off.
RegisterAccess::Kind InsnBuilder::written() const {
    const bool all_lanes = in.guard == Operand::no_register && !skips_lanes_;
    return all_lanes ? RegisterAccess::Kind::Write : RegisterAccess::Kind::PartialWrite;
}

bool InsnBuilder::has(std::string_view modifier) const {
    return std::find(in.modifiers.begin(), in.modifiers.end(), modifier) != in.modifiers.end();
}

Type InsnBuilder::type(std::size_t index) const {
    if (index >= types_.size()) refuse("type is missing");
    return types_[index];
}

void InsnBuilder::expect_operands(std::size_t least, std::size_t most) const {
    if (operand_count() < least || operand_count() > most)
        refuse(fmt::format("has {} operands, expected {}", operand_count(),
                           least == most ? std::to_string(least) : fmt::format("{} to {}", least, most)));
}

const Operand& InsnBuilder::operand(std::size_t index) const {
    if (index >= in.operands.size()) refuse("operand is missing");
    return in.operands[index];
}

unsigned InsnBuilder::register_bytes(const Operand& o) const {
    return o.kind == Kind::Register ? function.register_bytes(o.reg) : 0;
}

Ref InsnBuilder::destination(std::size_t index, unsigned bytes) { return destination(operand(index), bytes); }

Ref InsnBuilder::destination(const Operand& o, unsigned bytes) {
    if (o.kind == Kind::None) return sink(bytes);
    if (o.kind != Kind::Register) refuse("the destination must be a register");
    if (function.is_predicate(o.reg) || function.register_bytes(o.reg) != bytes)
        refuse(fmt::format("the destination must be a {}-bit register", 8 * bytes));
    return function.register_place(o.reg, in.ptx_line, written());
}

Ref InsnBuilder::source(std::size_t index, Type type) { return source(operand(index), type); }

Ref InsnBuilder::source(const Operand& o, Type type) {
    const unsigned bytes = ptx::size_of(type);
    if (bytes != 2 && bytes != 4 && bytes != 8 && (bytes != 16 || o.kind != Kind::Register))
        refuse("operand type not supported");
    switch (o.kind) {
        case Kind::Register:
            if (function.is_predicate(o.reg) || function.register_bytes(o.reg) != bytes)
                refuse(fmt::format("a source must be a {}-bit register", 8 * bytes));
            return function.register_place(o.reg, in.ptx_line, RegisterAccess::Kind::Read);
        case Kind::Immediate:
            return constant(immediate_bits(o, type), bytes);
        case Kind::Special: {
            using Register = ptx::SpecialRegister::Kind;
            const auto known = ptx::find_special(o.symbol);
            if (known && known->kind == Register::Fixed) return constant(known->value, bytes);
            if (known && known->kind == Register::Filled) {
                if (bytes != 4) refuse("special register " + o.symbol + " is 32 bits wide");
                const auto index = static_cast<unsigned>(known->special);
                function.builder.code.used_specials |= 1u << index;
                return area::specials | (static_cast<Ref>(index) * warp_size * 4);
            }
            if (const auto offset = function.symbol(o.symbol)) return constant(offset->address, bytes);
            refuse("special register " + o.symbol + " is not supported");
        }
        case Kind::Symbol: {
            if (is_float(type)) refuse("an address cannot be a float");
            if (o.symbol == "WARP_SZ") return constant(warp_size, bytes);
            const auto place = function.symbol(o.symbol);
            if (!place) refuse("no variable or function '" + o.symbol + "'");
            const bool narrow_space = place->space == Space::Shared || place->space == Space::Local;
            if (bytes != 8 && !(bytes == 4 && narrow_space)) refuse("an address needs a 64-bit register");
            if (place->space == Space::Local && !function.is_kernel())
                refuse("address of local memory outside a mov in a called function");
            return constant(place->address + static_cast<std::uint64_t>(o.offset), bytes);
        }
        default:
            refuse("operand is of a kind that is not supported here");
    }
}

Ref InsnBuilder::predicate_destination(const Operand& o) {
    if (o.kind == Kind::None) return sink(4);
    if (o.kind != Kind::Register || !function.is_predicate(o.reg)) refuse("the destination must be a predicate");
    return function.register_place(o.reg, in.ptx_line, written());
}

Ref InsnBuilder::predicate_source(const Operand& o, bool* negated) {
    *negated = false;
    if (o.kind == Kind::Immediate) return constant(o.imm ? ~0u : 0u, 4);
    if (o.kind != Kind::Register || !function.is_predicate(o.reg)) refuse("needs a predicate register");
    *negated = o.negated;
    return function.register_place(o.reg, in.ptx_line, RegisterAccess::Kind::Read);
}

Ref InsnBuilder::constant(std::uint64_t bits, unsigned bytes) { return function.builder.constant(bits, bytes); }
Ref InsnBuilder::table(std::span<const Ref> entries) { return function.builder.table(entries); }
Ref InsnBuilder::sink(unsigned bytes) { return function.sink(bytes); }
Ref InsnBuilder::carry() { return function.carry(); }

void InsnBuilder::address(const Operand& o, Space space, std::uint16_t narrow_bit) {
    out.offset = o.offset;
    if (o.reg != Operand::no_register) {
        const unsigned bytes = function.register_bytes(o.reg);
        if (function.is_predicate(o.reg) || (bytes != 8 && bytes != 4)) refuse("an address must be 32 or 64 bits wide");
        if (bytes == 4) {
            if (space == Space::Global || space == Space::Generic) refuse("an address needs a 64-bit register");
            out.form |= narrow_bit;
        }
        out.a = function.register_place(o.reg, in.ptx_line, RegisterAccess::Kind::Read);
        return;
    }
    std::uint64_t base = o.imm;
    if (!o.symbol.empty()) {
        const auto place = function.symbol(o.symbol);
        if (!place) refuse("no variable '" + o.symbol + "'");
        if (place->space != space && !(space == Space::Generic && place->space == Space::Global))
            refuse("variable '" + o.symbol + "' is in another state space");
        if (place->space == Space::Local && !function.is_kernel())
            refuse("address of local memory outside a mov in a called function");
        base = place->address;
    }
    out.a = constant(base, 8);
}

void InsnBuilder::refuse(const std::string& why) const {
    throw PtxError(in.ptx_line, text() + ": " + why, PtxError::Kind::unsupported);
}

std::string InsnBuilder::text() const {
    std::string s = in.opcode;
    for (const auto& m : in.modifiers) s += "." + m;
    return s;
}

}  // namespace warpgrade::vgpu
