#include "vgpu/access/swap_contention.hpp"

#include <algorithm>
#include <numeric>

#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

void SwapContention::add(std::uint32_t warp, const Access& x, std::uint32_t succeeded) {
    if (warp >= warps_.size()) warps_.resize(warp + 1);
    WarpSwaps& swaps = warps_[warp];
    ++swaps.turns;
    for_active(x.mask & succeeded, [&](unsigned lane) {
        ++swaps.successes[lane];
        std::vector<std::uint32_t>& by_warp = words_[x.address[lane]];
        if (by_warp.size() <= warp) by_warp.resize(warp + 1);
        ++by_warp[warp];
    });
}

SwapContention::Turns SwapContention::finish_block() {
    Turns turns;
    if (warps_.empty()) return turns;
    // How often a warp begins to try: as often as its most successful lane succeeds.
    std::vector<std::uint64_t> begins(warps_.size());
    for (std::size_t w = 0; w < warps_.size(); ++w)
        begins[w] = std::max<std::uint64_t>(*std::ranges::max_element(warps_[w].successes), 1);
    // In thousandths, so that sums do not depend on their order: over a warp's successes, the lanes that want the word.
    std::vector<std::uint64_t> rivals(warps_.size());
    for (const auto& [address, by_warp] : words_) {
        std::uint64_t lanes = 0;
        for (std::size_t w = 0; w < by_warp.size(); ++w) lanes += 1000ull * by_warp[w] / begins[w];
        for (std::size_t w = 0; w < by_warp.size(); ++w) rivals[w] += lanes * by_warp[w];
    }
    for (std::size_t w = 0; w < warps_.size(); ++w) {
        const auto& successes = warps_[w].successes;
        const std::uint64_t all = std::accumulate(successes.begin(), successes.end(), std::uint64_t{0});
        const std::uint64_t together = all == 0 ? 0 : rivals[w] / all * begins[w] / 1000;
        turns.here += warps_[w].turns;
        turns.further += together - std::min(together, warps_[w].turns);
    }
    warps_.clear();
    words_.clear();
    return turns;
}

}  // namespace warpgrade::vgpu
