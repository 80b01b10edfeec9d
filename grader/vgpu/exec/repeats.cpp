#include "vgpu/exec/repeats.hpp"

#include <algorithm>

namespace warpgrade::vgpu {
namespace {

std::string key_of(device::FunctionId kernel, const device::LaunchConfig& config, std::span<const std::byte> params) {
    const std::uint64_t numbers[] = {kernel,         config.grid.x,      config.grid.y,
                                     config.grid.z,  config.block.x,     config.block.y,
                                     config.block.z, config.cooperative, config.dynamic_shared_bytes};
    std::string key(reinterpret_cast<const char*>(numbers), sizeof numbers);
    return key.append(reinterpret_cast<const char*>(params.data()), params.size());
}

bool is_shared_with_host(const Allocation& a) {
    return a.kind != device::MemoryKind::device && a.kind != device::MemoryKind::array;
}

bool calls_the_runtime(const Code& code) {
    return std::ranges::any_of(code.calls, [](const CallSite& call) { return call.builtin.has_value(); });
}

}  // namespace

const LaunchStory* RepeatedLaunches::find(device::FunctionId kernel, const device::LaunchConfig& config,
                                          std::span<const std::byte> params, const GlobalMemory& memory) const {
    const auto known = kept_.find(key_of(kernel, config, params));
    if (known == kept_.end()) return nullptr;
    const bool unchanged = std::ranges::all_of(known->second.versions, [&](const auto& noted) {
        const Allocation* a = memory.find(noted.first);
        return a && a->version == noted.second;
    });
    return unchanged ? &known->second.story : nullptr;
}

void RepeatedLaunches::keep(device::FunctionId kernel, const device::LaunchConfig& config,
                            std::span<const std::byte> params, const Code& code, const LaunchStory& story,
                            GlobalMemory& memory) {
    const std::string key = key_of(kernel, config, params);
    kept_.erase(key);
    const bool adds_up = story.record.counters->atomic_requests != 0;
    if (adds_up || calls_the_runtime(code)) return;
    decltype(Kept::versions) versions;
    bool is_repeatable = true;
    memory.for_each([&](const Allocation& a) {
        constexpr unsigned both = Allocation::Read | Allocation::Written;
        const unsigned touched = a.touched & both;
        is_repeatable &= touched == 0 || (touched != both && !is_shared_with_host(a));
        if (touched) versions.emplace_back(a.base, a.version);
    });
    if (!is_repeatable) return;
    if (kept_.size() >= most) kept_.clear();
    Kept& kept = kept_.emplace(key, Kept{story, std::move(versions)}).first->second;
    kept.story.record.trace.reset();  // of one launch of each kernel
}

}  // namespace warpgrade::vgpu
