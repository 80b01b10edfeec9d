// What each block of a launch asks of its multiprocessor, and which multiprocessor has most to do. Counted in whole
// numbers, so that sums are the same in whatever order blocks end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpgrade::vgpu {

// In tenths of issue slots. ptxas folds addresses and merges loads: about four machine instructions for five of PTX. A
// divergent branch costs both sides' overhead, and the reconvergence.
namespace issue_tenths {
inline constexpr std::uint64_t instruction = 8, divergence = 100;
}

// In tenths of cycles of the load/store pipe. A request for up to four sectors (a warp's 128 bytes) costs one unit,
// whatever it reads; each further sector adds. A wavefront is one pass through shared memory, or one more word of
// constant memory.
namespace l1_tenths {
inline constexpr std::uint64_t load_request = 16, store_request = 10, extra_sector = 4, wavefront = 10,
                               atomic_request = 20, atomic_sector = 10, shared_atomic = 40;
inline constexpr std::uint64_t sectors_of_full_request = 4;

constexpr std::uint64_t of_sectors(std::uint64_t request, std::uint64_t sectors) {
    return request + (sectors > sectors_of_full_request ? (sectors - sectors_of_full_request) * extra_sector : 0);
}
}  // namespace l1_tenths

struct BlockWork {
    std::uint64_t issue = 0, l1 = 0;  // in the tenths above
};

// A launch's work on the multiprocessors. A block goes to the one that has least to do when it starts: that of blocks
// alike is one after the other.
class WorkSpread {
  public:
    explicit WorkSpread(std::uint32_t multiprocessors);
    // In the order of the blocks' index.
    void add(const BlockWork& block);

    // The busiest multiprocessor's part of all work; 0 if there is none.
    [[nodiscard]] double busiest_issue() const { return part(busiest_.issue, all_.issue); }
    [[nodiscard]] double busiest_l1() const { return part(busiest_.l1, all_.l1); }
    // How many times as long as the mean block the longest one is.
    [[nodiscard]] double longest_block() const {
        return part(longest_, cost(all_)) * static_cast<double>(std::max<std::uint64_t>(blocks_, 1));
    }

  private:
    static double part(std::uint64_t some, std::uint64_t all) {
        return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
    }
    // In fortieths of cycles: about four instructions are issued in one.
    static std::uint64_t cost(const BlockWork& work) { return work.issue + 4 * work.l1; }

    std::vector<BlockWork> work_;                                 // by multiprocessor
    std::vector<std::pair<std::uint64_t, std::uint32_t>> queue_;  // a heap of their costs: the least comes first
    BlockWork busiest_, all_;
    std::uint64_t longest_ = 0, blocks_ = 0;
};

}  // namespace warpgrade::vgpu
