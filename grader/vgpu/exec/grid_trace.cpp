// Names what the logs of traced warps hold: source lines, allocations and shared variables.
#include <map>

#include "vgpu/exec/grid.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {
namespace {

device::TracedArray describe_array(const Launch& launch, const GlobalMemory& memory, const LoggedAccess& one) {
    if (one.space == LoggedAccess::Space::global) {
        const auto known = memory.known(one.base);
        return {known ? known->place : device::MemoryPlace{}, one.base % device::TracedArray::line_bytes};
    }
    device::TracedArray array;
    array.begin = one.base;
    if (const SharedRange* range = launch.shared.find(one.base, one.base, 1)) {
        array.memory.bytes = range->bytes;
        array.memory.variable = range->variable != nullptr;
        array.memory.name = range->variable ? variable_name(range->variable->name) : "dynamic shared memory";
    }
    return array;
}

}  // namespace

void Grid::collect_trace() {
    std::vector<const AccessLog*> parts;
    for (const Executor& e : executors_) parts.push_back(&e.watch.log);
    device::AccessTrace& trace = result_.trace.emplace();
    std::map<std::uint64_t, std::uint32_t> lines;
    std::map<std::pair<LoggedAccess::Space, std::uint64_t>, std::uint32_t> arrays;
    for (const LoggedAccess& one : AccessLog::merge(parts)) {
        const auto [line, new_line] = lines.try_emplace(one.line, static_cast<std::uint32_t>(trace.lines.size()));
        if (new_line) trace.lines.push_back(launch_.line_of_key(one.line));
        const auto [array, new_array] =
            arrays.try_emplace({one.space, one.base}, static_cast<std::uint32_t>(trace.arrays.size()));
        if (new_array) trace.arrays.push_back(describe_array(launch_, memory_, one));
        device::TracedAccess access{one.kind,     one.space,     one.bytes, one.mask,
                                    line->second, array->second, one.block, one.warp,
                                    one.units,    one.conflicts, {}};
        for_active(one.mask, [&](unsigned l) { access.offsets.push_back(one.address[l] - one.base); });
        trace.accesses.push_back(std::move(access));
    }
}

}  // namespace warpgrade::vgpu
