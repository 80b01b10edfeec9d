#include "vgpu/checks/constants.hpp"

#include <set>

namespace warpgrade::vgpu {

std::vector<device::Diagnostic> find_unset_constants(const Launch& launch, std::span<const Executor> executors) {
    const Code& code = launch.code;
    std::vector<device::Diagnostic> found;
    std::set<const Allocation*> told;
    for (std::size_t s = 0; s < code.stat_kinds.size(); ++s) {
        if (code.stat_kinds[s] != StatKind::ConstantLoad) continue;
        for (const Executor& e : executors) {
            const Allocation* a = e.memory[s].requests != 0 ? e.memory[s].allocation : nullptr;
            if (!a || !a->never_set || !told.insert(a).second) continue;
            device::Diagnostic& d = found.emplace_back();
            d.rule = &device::rules::unset_constant;
            d.message = "reads {memory}, into which nothing was ever copied";
            d.place = launch.source_place(code.insns[code.stat_insns[s]]);
            d.memory = device::MemoryPlace{a->variable, true, a->bytes, {}};
        }
    }
    return found;
}

}  // namespace warpgrade::vgpu
