// How much work each warp of a launch gives its multiprocessor, and which multiprocessor has most. Counted in integers,
// so that sums do not depend on the order in which blocks end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpgrade::vgpu {

// In tenths of issue slots. What ptxas makes part of another instruction takes none (code/fused.hpp); what it adds is
// `further` (machine_cost.hpp). A divergent branch costs both sides' overhead and the reconvergence.
namespace issue_tenths {
inline constexpr std::uint64_t instruction = 10, further = 10, divergence = 50;
}
// How long a warp takes to part and to meet again, in quarters of the latency of an addition.
inline constexpr std::uint64_t divergence_time = 30;

// In tenths of cycles of the load/store pipe. Loads of global memory: Access::l1_cycles, and more for each line that L1
// misses; stores take a cycle a line. A request of local memory, a texture or a surface costs one unit for up to four
// sectors, and more for further ones. A wavefront is one pass through shared memory.
namespace l1_tenths {
inline constexpr std::uint64_t load_request = 12, store_request = 10, extra_sector = 4, wavefront = 10,
                               atomic_request = 20, atomic_sector = 10;
inline constexpr std::uint64_t sectors_of_full_request = 4;

constexpr std::uint64_t of_cycles(std::uint64_t request, std::uint64_t cycles) {
    return std::max(request, 10 * cycles);
}
constexpr std::uint64_t of_sectors(std::uint64_t request, std::uint64_t sectors) {
    return request + (sectors > sectors_of_full_request ? (sectors - sectors_of_full_request) * extra_sector : 0);
}
}  // namespace l1_tenths

struct WarpWork {
    std::uint64_t issue_tenths = 0, l1_tenths = 0;
    std::uint64_t time = 0;  // on its own (BasicBlock::time)
    // In fortieths of cycles: about four instructions are issued per cycle.
    [[nodiscard]] std::uint64_t cost() const { return issue_tenths + 4 * l1_tenths; }
    void part() { issue_tenths += issue_tenths::divergence, time += divergence_time; }
    WarpWork& operator+=(const WarpWork& other) {
        issue_tenths += other.issue_tenths, l1_tenths += other.l1_tenths, time += other.time;
        return *this;
    }
};

struct BlockWork {
    WarpWork all;
    std::uint64_t instructions = 0, warps = 0;
    std::uint64_t longest_warp = 0;  // its time
    void add(const WarpWork& warp) {
        all += warp;
        ++warps;
        longest_warp = std::max(longest_warp, warp.time);
    }
};

// How a launch's work is spread over the multiprocessors. A block goes to the one with least work when it starts; equal
// blocks go round in turn.
class WorkSpread {
  public:
    explicit WorkSpread(std::uint32_t multiprocessors);
    // Blocks must be added in the order of their index.
    void add(const BlockWork& block);

    // The busiest multiprocessor's share of all work; 0 if there is no work.
    [[nodiscard]] double busiest_issue() const { return part(busiest_issue_, all_.issue_tenths); }
    [[nodiscard]] double busiest_l1() const { return part(busiest_l1_, all_.l1_tenths); }
    // The longest warp's time divided by the mean warp's.
    [[nodiscard]] double longest_warp() const { return part(longest_warp_ * warps_, all_.time); }
    // The same of each block's longest warp, on the mean: the others wait for it.
    [[nodiscard]] double longest_of_block() const { return part(longest_of_blocks_ * warps_, all_.time * blocks_); }
    [[nodiscard]] std::uint64_t most_instructions() const { return most_instructions_; }  // of one block

  private:
    static double part(std::uint64_t some, std::uint64_t all) {
        return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
    }

    std::vector<WarpWork> work_;                                  // by multiprocessor
    std::vector<std::pair<std::uint64_t, std::uint32_t>> queue_;  // a heap of their costs with the least on top
    WarpWork all_;
    std::uint64_t busiest_issue_ = 0, busiest_l1_ = 0, longest_warp_ = 0, warps_ = 0, most_instructions_ = 0;
    std::uint64_t longest_of_blocks_ = 0, blocks_ = 0;  // the sum
};

}  // namespace warpgrade::vgpu
