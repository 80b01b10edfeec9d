#include "vgpu/code/equal_addresses.hpp"

#include <algorithm>
#include <limits>

namespace warpgrade::vgpu {

namespace {

// A load or store by all lanes of the split, with its addresses in the register `a`. Parameters have no memory slot.
bool is_plain_access(const Code& code, std::uint32_t insn) {
    const Insn& in = code.insns[insn];
    return (in.flow == Flow::Loads || in.flow == Flow::Stores) && !in.has_guard &&
           in.memory_slot < code.stat_insns.size() && code.stat_insns[in.memory_slot] == insn &&
           code.stat_bytes[in.memory_slot] != 0;
}

}  // namespace

void find_equal_addresses(Code& code) {
    auto use = code.uses.cbegin();
    for (const BasicBlock& block : code.blocks) {
        std::vector<const Insn*> unchanged;  // accesses whose address register nothing has written since
        for (std::uint32_t i = block.begin; i != block.end; ++i) {
            Insn& in = code.insns[i];
            if (is_plain_access(code, i)) {
                const auto first = std::ranges::find_if(unchanged, [&](const Insn* earlier) {
                    return earlier->a == in.a &&
                           code.stat_bytes[earlier->memory_slot] == code.stat_bytes[in.memory_slot];
                });
                if (first == unchanged.end())
                    unchanged.push_back(&in);
                else if (const auto slots = in.memory_slot - (*first)->memory_slot;
                         slots <= std::numeric_limits<decltype(in.same_addresses)>::max())
                    in.same_addresses = static_cast<decltype(in.same_addresses)>(slots);
            }
            while (use != code.uses.cend() && use->insn < i) ++use;
            for (; use != code.uses.cend() && use->insn == i; ++use)
                if (use->writes) std::erase_if(unchanged, [&](const Insn* access) { return access->a == use->place; });
        }
    }
}

}  // namespace warpgrade::vgpu
