#include "vgpu/code/opcodes.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace warpgrade::vgpu {
namespace {

bool names(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const auto end = list.find(' ');
        if (list.substr(0, end) == word) return true;
        if (end == std::string_view::npos) return false;
        list.remove_prefix(end + 1);
    }
    return false;
}

std::size_t words_in(std::string_view list) {
    return list.empty() ? 0 : static_cast<std::size_t>(std::count(list.begin(), list.end(), ' ')) + 1;
}

bool matches(const OpcodeRow& row, const ptx::Instruction& in) {
    std::size_t required = 0;
    bool typed = false;
    for (const std::string& m : in.modifiers) {
        if (names(row.required, m)) {
            ++required;
        } else if (ptx::parse_type(m) != ptx::Type::None) {
            if (!typed && !names(row.types, m)) return false;  // the first type is the operation's
            typed = true;
        } else if (!names(row.optional, m)) {
            return false;
        }
    }
    return required == words_in(row.required) && (typed || row.types.empty());
}

std::span<const OpcodeFamily> families() {
    static const std::array all = {OpcodeFamily{"Integer arithmetic", integer_opcodes()},
                                   OpcodeFamily{"Packed and small integers", packed_opcodes()},
                                   OpcodeFamily{"Logic and bits", bit_opcodes()},
                                   OpcodeFamily{"Floating point", float_opcodes()},
                                   OpcodeFamily{"Half precision", half_opcodes()},
                                   OpcodeFamily{"Comparison and selection", compare_opcodes()},
                                   OpcodeFamily{"Conversion", convert_opcodes()},
                                   OpcodeFamily{"Moves and addresses", move_opcodes()},
                                   OpcodeFamily{"Memory", memory_opcodes()},
                                   OpcodeFamily{"Atomics", atomic_opcodes()},
                                   OpcodeFamily{"Asynchronous copies and mbarriers", async_opcodes()},
                                   OpcodeFamily{"Textures", texture_opcodes()},
                                   OpcodeFamily{"Surfaces", surface_opcodes()},
                                   OpcodeFamily{"Warp", warp_opcodes()},
                                   OpcodeFamily{"Matrix products", matrix_opcodes()},
                                   OpcodeFamily{"Matrices in memory", matrix_memory_opcodes()},
                                   OpcodeFamily{"Control and barriers", control_opcodes()}};
    return all;
}

}  // namespace

std::span<const OpcodeFamily> opcode_families() { return families(); }

const OpcodeRow* find_opcode(const ptx::Instruction& in) {
    static const auto index = [] {
        std::unordered_multimap<std::string_view, const OpcodeRow*> rows;
        for (const OpcodeFamily& f : families())
            for (const OpcodeRow& row : f.rows) rows.emplace(row.mnemonic, &row);
        return rows;
    }();
    const OpcodeRow* best = nullptr;  // of several, the one that requires most
    const auto [begin, end] = index.equal_range(in.opcode);
    for (auto it = begin; it != end; ++it)
        if (matches(*it->second, in) && (!best || words_in(it->second->required) > words_in(best->required)))
            best = it->second;
    return best;
}

}  // namespace warpgrade::vgpu
