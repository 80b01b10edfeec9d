#include "vgpu/model/block_work.hpp"

#include <functional>

namespace warpgrade::vgpu {

WorkSpread::WorkSpread(std::uint32_t multiprocessors) : work_(std::max(multiprocessors, 1u)) {
    for (std::uint32_t i = 0; i < work_.size(); ++i) queue_.emplace_back(0, i);
}

void WorkSpread::add(const BlockWork& block) {
    std::ranges::pop_heap(queue_, std::greater());
    auto& [load, where] = queue_.back();
    load += block.all.cost();
    WarpWork& work = work_[where];
    work += block.all;
    all_ += block.all;
    busiest_issue_ = std::max(busiest_issue_, work.issue_tenths);
    busiest_l1_ = std::max(busiest_l1_, work.l1_tenths);
    longest_warp_ = std::max(longest_warp_, block.longest_warp);
    warps_ += block.warps;
    longest_of_blocks_ += block.longest_warp;
    ++blocks_;
    most_instructions_ = std::max(most_instructions_, block.instructions);
    std::ranges::push_heap(queue_, std::greater());
}

}  // namespace warpgrade::vgpu
