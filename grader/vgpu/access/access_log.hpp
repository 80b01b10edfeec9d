// What one host thread records of the accesses of traced warps (device/access_trace.hpp): the addresses of the first
// ones of each source line, kind and array.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "device/access_trace.hpp"
#include "vgpu/access/access.hpp"

namespace warpgrade::vgpu {

struct LoggedAccess {
    using Kind = device::TracedAccess::Kind;
    using Space = device::TracedAccess::Space;
    std::uint64_t block = 0;
    std::uint32_t warp = 0;
    std::uint64_t line = 0;  // names a source line, 0 if it is unknown
    Kind kind = Kind::load;
    Space space = Space::global;
    std::uint64_t base = 0;  // where the allocation or the variable of shared memory begins
    unsigned bytes = 0;      // of one lane
    std::uint32_t mask = 0;
    std::uint32_t units = 0, conflicts = 0;
    std::array<std::uint64_t, warp_size> address{};
};

// True for the warps whose accesses are recorded: the first two of the first block, and the first of the middle one.
constexpr bool is_traced(std::uint64_t block, std::uint64_t blocks, std::uint32_t warp) {
    return block == 0 ? warp < 2 : block == blocks / 2 && warp == 0;
}

class AccessLog {
  public:
    // `which` tells everything but the access itself.
    void note(LoggedAccess which, const Access& access);

    // The logs of several host threads in one: by block and warp, then in each warp's order.
    static std::vector<LoggedAccess> merge(std::span<const AccessLog* const> parts);

  private:
    using WarpKey = std::pair<std::uint64_t, std::uint32_t>;
    using LineKey = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, LoggedAccess::Kind, LoggedAccess::Space,
                               std::uint64_t, unsigned>;
    std::vector<LoggedAccess> accesses_;
    std::map<WarpKey, std::size_t> of_warp_;
    std::map<LineKey, std::size_t> of_line_;
};

}  // namespace warpgrade::vgpu
