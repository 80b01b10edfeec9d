#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vgpu/code/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

template <class F>
void for_each_word(std::string_view list, F&& f) {
    while (!list.empty()) {
        const auto end = list.find(' ');
        f(list.substr(0, end));
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
}

bool names(std::string_view list, std::string_view word) {
    bool found = false;
    for_each_word(list, [&](std::string_view one) { found |= one == word; });
    return found;
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
            if (!typed && !names(row.types, m)) return false;  // the first type is the operation's type
            typed = true;
        } else if (!names(row.optional, m)) {
            return false;
        }
    }
    return required == words_in(row.required) && (typed || row.types.empty());
}

bool all_in(std::string_view list, const std::vector<std::string>& modifiers) {
    bool all = true;
    for_each_word(list, [&](std::string_view word) { all &= std::ranges::find(modifiers, word) != modifiers.end(); });
    return all;
}

// True if the row implements what the entry refuses, or a part of it.
bool implements(const OpcodeRow& row, const RefusedOpcode& entry) {
    if (row.mnemonic != entry.mnemonic) return false;
    std::vector<std::string> required;
    for_each_word(row.required, [&](std::string_view word) { required.emplace_back(word); });
    return all_in(entry.required, required);
}

}  // namespace

OpcodeTable::OpcodeTable(const Parts& parts) : parts_(parts) {
    for (const OpcodeFamily& family : parts_.families)
        for (const OpcodeRow& row : family.rows) rows_.emplace(row.mnemonic, &row);
    std::ranges::copy_if(parts_.refused, std::back_inserter(refused_), [&](const RefusedOpcode& entry) {
        const auto [begin, end] = rows_.equal_range(entry.mnemonic);
        return std::none_of(begin, end, [&](const auto& row) { return implements(*row.second, entry); });
    });
}

const OpcodeRow* OpcodeTable::find(const ptx::Instruction& in) const {
    const OpcodeRow* best = nullptr;  // the matching row with the most required modifiers
    const auto [begin, end] = rows_.equal_range(in.opcode);
    for (auto it = begin; it != end; ++it)
        if (matches(*it->second, in) && (!best || words_in(it->second->required) > words_in(best->required)))
            best = it->second;
    return best;
}

bool OpcodeTable::is_mnemonic(std::string_view opcode) const {
    return std::ranges::find(parts_.mnemonics, opcode) != parts_.mnemonics.end();
}

ptx::PtxError OpcodeTable::refusal_of(const ptx::Instruction& in, const std::string& text) const {
    using Why = ptx::PtxError::Kind;
    if (!is_mnemonic(in.opcode))
        return {in.ptx_line, fmt::format("'{}': PTX has no instruction '{}'", text, in.opcode), Why::invalid};
    const RefusedOpcode* reason = nullptr;
    for (const RefusedOpcode& entry : refused_)
        if (entry.mnemonic == in.opcode && all_in(entry.required, in.modifiers) &&
            (!reason || entry.required.size() > reason->required.size()))
            reason = &entry;
    const std::string message = fmt::format("'{}' is not supported by the virtual GPU", text);
    return {in.ptx_line, reason ? fmt::format("{}: {}", message, reason->reason) : message, Why::unsupported};
}

}  // namespace warpgrade::vgpu
