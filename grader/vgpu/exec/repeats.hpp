// Launches that would do again what an earlier one did. Programs that measure themselves repeat a launch hundreds of
// times; all but the first are told from what was kept of it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/exec/grid.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

// All that a launch tells, but for its place in time.
struct LaunchStory {
    device::LaunchRecord record;
    KernelTime time;
    std::vector<device::Diagnostic> diagnostics;
    std::vector<device::MemoryAccess> accesses;
};

class RepeatedLaunches {
  public:
    // The story of an earlier launch of this kernel with these sizes and arguments, if nobody has changed since what it
    // read and wrote: running it again would change nothing. Null otherwise.
    [[nodiscard]] const LaunchStory* find(device::FunctionId kernel, const device::LaunchConfig& config,
                                          std::span<const std::byte> params, const GlobalMemory& memory) const;
    // To be called once the launch has run. Keeps nothing of one that may do otherwise the next time: that reads what
    // it writes, adds by atomics, uses memory of the host, or calls the runtime (printf, malloc, launches).
    void keep(device::FunctionId kernel, const device::LaunchConfig& config, std::span<const std::byte> params,
              const Code& code, const LaunchStory& story, GlobalMemory& memory);
    void forget() { kept_.clear(); }

  private:
    struct Kept {
        LaunchStory story;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> versions;  // by base, of all that it read or wrote
    };
    static constexpr std::size_t most = 256;
    std::map<std::string, Kept> kept_;
};

}  // namespace warpgrade::vgpu
