#include "vgpu/access/atomic_queues.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/access/lines.hpp"
#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

void AtomicQueues::perform(std::uint64_t word, std::uint32_t lanes, bool chained) {
    Slice& slice = slices_[hash_of_line(word / slice_bytes) >> 58];
    const std::uint64_t each = chained ? chained_tenths : tenths;
    slice.tenths_of_cycles += (slice.last == word ? each : tenths) + (lanes - 1) * each;
    slice.last = word;
}

AtomicQueues::Cost AtomicQueues::add(const Access& x, unsigned bytes, bool combined, bool chained) {
    if (x.kind == Access::Kind::Uniform) {
        const auto lanes = combined ? 1u : static_cast<std::uint32_t>(std::popcount(x.mask));
        perform(x.low, lanes, chained);
        return {1, lanes};
    }
    std::uint64_t words[warp_size];
    unsigned count = 0;
    for_active(x.mask, [&](unsigned l) { words[count++] = x.address[l] / bytes * bytes; });
    std::sort(words, words + count);
    Cost cost;
    for (unsigned i = 0; i < count;) {
        const std::uint64_t sector = words[i] / sector_bytes;
        std::uint64_t busiest = 0;
        std::uint32_t most = 0;
        while (i < count && words[i] / sector_bytes == sector) {
            const unsigned first = i;
            while (i < count && words[i] == words[first]) ++i;
            if (i - first > most) most = i - first, busiest = words[first];
        }
        perform(busiest, most, chained);
        ++cost.sectors;
        cost.cycles += most;
    }
    return cost;
}

std::uint64_t AtomicQueues::busiest_cycles() const {
    return std::ranges::max(slices_, {}, &Slice::tenths_of_cycles).tenths_of_cycles / tenths;
}

std::uint32_t shared_atomic_wavefronts(const Access& x, unsigned bytes, const MeetingLanes& how) {
    constexpr std::uint32_t of_loop = 12, of_swap = 2;
    if (how.combined && x.kind == Access::Kind::Uniform) return 1;
    if (!how.needs_old && !how.adds_floats && !how.swaps) return x.wavefronts(bytes).total;
    std::uint32_t lanes[bank_count] = {}, most = 0;
    for_active(x.mask, [&](unsigned l) { most = std::max(most, ++lanes[x.address[l] / bank_bytes % bank_count]); });
    return most * (how.adds_floats ? of_loop : how.swaps ? of_swap : 1);
}

}  // namespace warpgrade::vgpu
