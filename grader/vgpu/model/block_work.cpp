#include "vgpu/model/block_work.hpp"

#include <functional>

namespace warpgrade::vgpu {

WorkSpread::WorkSpread(std::uint32_t multiprocessors) : work_(std::max(multiprocessors, 1u)) {
    for (std::uint32_t i = 0; i < work_.size(); ++i) queue_.emplace_back(0, i);
}

void WorkSpread::add(const BlockWork& block) {
    std::ranges::pop_heap(queue_, std::greater());
    auto& [load, where] = queue_.back();
    load += cost(block);
    BlockWork& work = work_[where];
    work.issue += block.issue, work.l1 += block.l1;
    all_.issue += block.issue, all_.l1 += block.l1;
    busiest_ = {std::max(busiest_.issue, work.issue), std::max(busiest_.l1, work.l1)};
    longest_ = std::max(longest_, cost(block));
    ++blocks_;
    std::ranges::push_heap(queue_, std::greater());
}

}  // namespace warpgrade::vgpu
