#include "vgpu/code/machine_code.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/code/flow_graph.hpp"
#include "vgpu/ptx/names.hpp"

namespace warpgrade::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

constexpr std::size_t max_places = 64;  // hostile code may have many

// PTX instructions that a predicate replaces the branch around, at most.
constexpr std::uint32_t longest_predicated = 12;

bool ends_quietly(const BasicBlock& block, std::uint32_t index) {
    return block.terminator == Terminator::Fall || block.terminator == Terminator::Skip ||
           (block.terminator == Terminator::Branch && block.target > index);
}

// As binary logarithms: by which power of two each register's value can be divided.
class Alignments {
  public:
    explicit Alignments(const ptx::Function& function) : known_(function.registers.size(), most) {
        // Values only get less aligned until nothing changes.
        for (bool changes = true; changes;) {
            changes = false;
            for (const ptx::Instruction& in : function.body) {
                if (in.operands.empty()) continue;
                changes |= in.operands[0].kind == Kind::Register && lower(in.operands[0].reg, result_of(in));
                for (const ptx::Operand& element : in.operands[0].elements)
                    changes |= element.kind == Kind::Register && lower(element.reg, 0);
            }
        }
    }
    [[nodiscard]] unsigned of(std::uint32_t reg) const { return reg < known_.size() ? known_[reg] : 0; }
    static constexpr unsigned of_symbol = 4;  // ptxas places arrays of shared memory at multiples of 16 bytes

  private:
    static constexpr std::uint8_t most = 31;
    bool lower(std::uint32_t reg, unsigned to) {
        if (reg >= known_.size() || known_[reg] <= to) return false;
        known_[reg] = static_cast<std::uint8_t>(to);
        return true;
    }
    [[nodiscard]] unsigned of(const ptx::Operand& operand) const {
        switch (operand.kind) {
            case Kind::Register:
                return of(operand.reg);
            case Kind::Immediate:
                return std::min<unsigned>(most, static_cast<unsigned>(std::countr_zero(operand.imm)));
            case Kind::Symbol:
                return of_symbol;
            default:
                return 0;
        }
    }
    [[nodiscard]] unsigned result_of(const ptx::Instruction& in) const {
        const auto operand = [&](std::size_t i) { return i < in.operands.size() ? of(in.operands[i]) : 0; };
        const std::string_view opcode = in.opcode;
        unsigned found = 0;
        if (opcode == "mov" || opcode == "cvta" || opcode == "cvt")
            found = operand(1);
        else if (opcode == "add" || opcode == "sub" || opcode == "or" || opcode == "selp" || opcode == "min" ||
                 opcode == "max")
            found = std::min(operand(1), operand(2));
        else if (opcode == "and")
            found = std::max(operand(1), operand(2));
        else if (opcode == "mul")
            found = operand(1) + operand(2);
        else if (opcode == "mad")
            found = std::min(operand(1) + operand(2), operand(3));
        else if (opcode == "shl" && in.operands.size() > 2 && in.operands[2].kind == Kind::Immediate)
            found = operand(1) + static_cast<unsigned>(std::min<std::uint64_t>(in.operands[2].imm, most));
        return std::min<unsigned>(found, most);
    }
    std::vector<std::uint8_t> known_;
};

// An address as a sum of a register or symbol and a constant.
struct Place {
    std::string_view symbol;
    std::uint32_t reg = ptx::Operand::no_register;
    std::int64_t offset = 0;
};

// Instructions that only add a constant to a register, by the register that they write.
using Sums = std::map<std::uint32_t, const ptx::Instruction*>;

Sums find_sums(const ptx::Function& function) {
    Sums sums;
    std::map<std::uint32_t, unsigned> writes;
    for (const ptx::Instruction& in : function.body) {
        if (in.operands.empty() || in.operands[0].kind != Kind::Register) continue;
        ++writes[in.operands[0].reg];
        if (in.opcode == "add" && in.operands.size() == 3 && in.operands[1].kind == Kind::Register &&
            in.operands[2].kind == Kind::Immediate && in.guard == ptx::Operand::no_register)
            sums[in.operands[0].reg] = &in;
    }
    std::erase_if(sums, [&](const auto& sum) { return writes[sum.first] > 1; });
    return sums;
}

Place place_of(const ptx::Operand& address, const Sums& sums) {
    Place place{address.symbol, address.reg, address.offset};
    for (auto sum = sums.find(place.reg); sum != sums.end(); sum = sums.find(place.reg)) {
        place.offset += static_cast<std::int64_t>(sum->second->operands[2].imm);
        place.reg = sum->second->operands[1].reg;
    }
    return place;
}

// How many words one load can bring instead of several from this memory; 1: none is merged.
unsigned mergeable_words(const ptx::Instruction& in) {
    if (in.opcode != "ld" || in.modifiers.size() != 2 || in.operands.size() < 2 || !in.modifiers[1].ends_with("32"))
        return 1;
    if (in.modifiers[0] == "const") return in.operands[1].symbol.empty() ? 2 : 1;  // at a symbol, it is an operand
    return in.modifiers[0] == "shared" || in.modifiers[0] == "shared::cta" ? 4 : 1;
}

// Behind it, memory may hold something else.
bool changes_shared_memory(const ptx::Instruction& in) {
    if (in.opcode == "st") return !is_global(in, "st");
    return in.opcode == "bar" || in.opcode == "barrier" || in.opcode == "atom" || in.opcode == "red" || in.is_call();
}

// Stores do not come right behind others that are on the other side of it.
bool holds_stores_back(const ptx::Instruction& in) {
    return (is_global(in, "ld") && !loads_constant(in)) || in.opcode == "bar" || in.opcode == "barrier" ||
           in.opcode == "membar" || in.opcode == "fence" || in.opcode == "atom" || in.is_call();
}

using WordsByOffset = std::map<std::int64_t, std::vector<std::uint32_t>>;  // instructions by offset

void merge(const WordsByOffset& words, unsigned most, unsigned alignment, std::vector<MergedLoad>& merged) {
    const auto has_run = [&](std::int64_t first, unsigned count) {
        if (first % (4 * count) != 0 || alignment < static_cast<unsigned>(std::countr_zero(4 * count))) return false;
        for (unsigned i = 1; i < count; ++i)
            if (!words.contains(first + 4 * i)) return false;
        return true;
    };
    for (auto word = words.begin(); word != words.end();) {
        const unsigned count = most == 4 && has_run(word->first, 4) ? 4 : has_run(word->first, 2) ? 2 : 1;
        for (unsigned i = 0; i < count; ++i, ++word) {
            const auto all = count * static_cast<std::uint32_t>(word->second.size());  // with those of the same word
            for (const std::uint32_t insn : word->second)
                if (all > 1) merged.push_back({insn, all, count});
        }
    }
}

}  // namespace

bool is_global(const ptx::Instruction& in, std::string_view opcode) {
    return in.opcode == opcode && std::ranges::find(in.modifiers, "global") != in.modifiers.end();
}

bool has_slow_path(const ptx::Instruction& in) {
    return (in.opcode == "div" || in.opcode == "sqrt" || in.opcode == "rcp") && !in.modifiers.empty() &&
           ptx::is_floating(ptx::parse_type(in.modifiers.back())) &&
           std::ranges::none_of(in.modifiers, [](const auto& one) { return one == "approx" || one == "full"; });
}

void find_predicated_branches(Code& code, const FunctionView& view) {
    const FunctionCode& function = view.function();
    const auto has_branches = [&](const BasicBlock& block) {
        for (std::uint32_t insn = block.begin; insn < block.end; ++insn)
            if (const ptx::Instruction* in = view.source_of(insn); in && has_slow_path(*in)) return true;
        return false;
    };
    // Around `a[i] < x && b[i] < y`, ptxas leaves the first branch, so as not to load what nobody wants.
    const auto decides_by_load = [&](const BasicBlock& block) {
        if (!block.conditional) return false;
        for (std::uint32_t insn = block.begin; insn < block.end; ++insn)
            if (const ptx::Instruction* in = view.source_of(insn); in && is_global(*in, "ld")) return true;
        return false;
    };
    const PostDominators meets(code, function);
    std::vector<std::uint32_t> entries(code.blocks.size() + 1);  // by block: how many others lead to it
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b)
        for_successors(code, b, [&](std::uint32_t next) { ++entries[next]; });
    std::uint32_t head = function.first_block, last = head;  // of the current stretch
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        BasicBlock& block = code.blocks[b];
        if (b > last) head = last = b;
        block.stretch = head;
        // Lanes that exchange values end a block of ours, but not one of machine code.
        if (block.terminator == Terminator::Collective && b + 1 < function.end_block && entries[b + 1] == 1)
            last = std::max(last, b + 1);
        if (block.terminator != Terminator::Branch || !block.conditional || block.target <= b) continue;
        const auto [region, join] = meets.region(b);
        if (join == PostDominators::none || join != b + 1 + region.size()) continue;
        std::uint32_t size = 0, inner = 0;  // inner: ways from the region to where the sides meet
        const bool is_short = std::ranges::all_of(region, [&, join = join](std::uint32_t part) {
            size += code.blocks[part].size;
            for_successors(code, part, [&](std::uint32_t next) { inner += next == join; });
            return part > b && part < join && size <= longest_predicated && ends_quietly(code.blocks[part], part) &&
                   !has_branches(code.blocks[part]) && !decides_by_load(code.blocks[part]);
        });
        for_successors(code, b, [&, join = join](std::uint32_t next) { inner += next == join; });
        if (is_short) block.predicated_until = join;
        if (is_short && entries[join] == inner) last = std::max(last, join);
    }
}

bool loads_constant(const ptx::Instruction& in) { return std::ranges::find(in.modifiers, "nc") != in.modifiers.end(); }

StoresBefore::Place StoresBefore::place_of(const ptx::Operand& address, const ptx::Instruction& in) {
    const auto is_shared = [](const std::string& one) { return one.starts_with("shared"); };
    return {std::ranges::any_of(in.modifiers, is_shared), address.reg, address.symbol};
}

void StoresBefore::add(const ptx::Instruction& store, std::uint64_t value) {
    if (store.operands.empty()) return;
    const ptx::Operand& address = store.operands[0];
    Stores& same = stores_[place_of(address, store)];
    for (std::uint64_t* most : {&most_, &same.most, &same.by_offset[address.offset]}) *most = std::max(*most, value);
}

std::uint64_t StoresBefore::of(const ptx::Instruction& load) const {
    if (loads_constant(load) || load.operands.size() < 2) return 0;
    if (stores_.size() > max_places) return most_;
    const ptx::Operand& address = load.operands[1];
    const Place own = place_of(address, load);
    std::uint64_t most = 0;
    for (const auto& [place, stores] : stores_) {
        if (place.shared != own.shared) continue;
        const bool same = place == own;
        const auto there = stores.by_offset.find(address.offset);
        most = std::max(most, !same ? stores.most : there != stores.by_offset.end() ? there->second : 0);
    }
    return most;
}

std::vector<MergedLoad> find_merged_loads(const Code& code, const FunctionView& view) {
    const FunctionCode& function = view.function();
    const Alignments alignments(view.source());
    const Sums sums = find_sums(view.source());
    // Of one stretch of code, by symbol, register, and how many can be one.
    std::map<std::tuple<std::string_view, std::uint32_t, unsigned>, WordsByOffset> words;
    std::vector<MergedLoad> merged;
    const auto finish = [&] {
        for (const auto& [base, found] : words) {
            const auto& [symbol, reg, most] = base;
            merge(found, most, symbol.empty() ? alignments.of(reg) : Alignments::of_symbol, merged);
        }
        words.clear();
    };
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        const BasicBlock& block = code.blocks[b];
        if (block.stretch == b) finish();
        for (std::uint32_t insn = block.begin; insn < block.begin + block.size; ++insn) {
            const ptx::Instruction* in = view.source_of(insn);
            if (in == nullptr) continue;
            if (changes_shared_memory(*in)) finish();
            const unsigned most = mergeable_words(*in);
            if (most == 1) continue;
            const Place place = place_of(in->operands[1], sums);
            words[{place.symbol, place.reg, most}][place.offset].push_back(insn);
        }
    }
    finish();
    std::ranges::sort(merged, {}, &MergedLoad::insn);
    return merged;
}

std::vector<std::uint32_t> find_following_stores(const Code& code, const FunctionView& view) {
    constexpr std::int64_t sector_bytes = 32;
    const FunctionCode& function = view.function();
    const Sums sums = find_sums(view.source());
    std::vector<std::uint32_t> following;
    Place before;
    std::uint32_t since = moved_past_at_most + 1;  // instructions behind that store; more than count if there is none
    const auto forget = [&] { since = moved_past_at_most + 1; };
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        const BasicBlock& block = code.blocks[b];
        if (block.stretch == b) forget();
        for (std::uint32_t insn = block.begin; insn < block.begin + block.size; ++insn) {
            const ptx::Instruction* in = view.source_of(insn);
            if (in == nullptr) continue;
            ++since;
            if (holds_stores_back(*in)) forget();
            if (!is_global(*in, "st") || in->operands.empty()) continue;
            const Place place = place_of(in->operands[0], sums);
            if (since <= moved_past_at_most && before.reg == place.reg && before.symbol == place.symbol &&
                std::abs(place.offset - before.offset) < sector_bytes)
                following.push_back(insn);
            before = place, since = 0;
        }
    }
    return following;
}

}  // namespace warpgrade::vgpu
