#include "vgpu/access/block_run.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "vgpu/access/l2_cache.hpp"
#include "vgpu/access/shared_l1.hpp"

namespace warpgrade::vgpu {

void BlockRun::add(std::uint64_t number, BlockL1& l1, const BlockWork& work, const L2Sets& sets, bool is_sampled) {
    l1.at_barrier();
    add(number, l1.misses, work, sets, is_sampled);
    lost_reads += l1.lost_reads;
    lost_writes += l1.lost_writes;
}

// Copies each miss behind those of its part. A few at a time, since all might be of one part.
static void divide(std::span<const LineRequest> misses, const L2Sets& sets, std::span<BlockRun::Part> parts) {
    constexpr std::size_t most = 256;
    for (; !misses.empty(); misses = misses.subspan(std::min(most, misses.size()))) {
        const std::span<const LineRequest> some = misses.first(std::min(most, misses.size()));
        std::array<LineRequest*, L2Sets::max_parts> to{};
        for (std::size_t p = 0; p < parts.size(); ++p) {
            std::vector<LineRequest>& memory = parts[p].memory;
            // Room, whatever is in it: to copy takes less time than to clear.
            if (memory.size() < parts[p].used + some.size()) memory.insert(memory.end(), some.begin(), some.end());
            to[p] = memory.data() + parts[p].used;
        }
        for (const LineRequest& miss : some) *to[sets.part_of(miss.line)]++ = miss;
        for (std::size_t p = 0; p < parts.size(); ++p)
            parts[p].used = static_cast<std::size_t>(to[p] - parts[p].memory.data());
    }
}

void BlockRun::add(std::uint64_t number, std::vector<LineRequest>& misses, const BlockWork& work, const L2Sets& sets,
                   bool is_sampled) {
    if (blocks.empty()) first = number;
    if (is_sampled)
        sampled.push_back({number,
                           {misses.begin(), misses.begin() + static_cast<std::ptrdiff_t>(
                                                                 std::min(misses.size(), SharedL1::max_requests))}});
    blocks.push_back(work);
    parts.resize(sets.parts());
    if (parts.size() > 1) {
        divide(misses, sets, parts);
    } else {
        Part& all = parts[0];
        if (all.used == 0)
            std::swap(all.memory, misses);
        else
            all.memory.insert(all.memory.end(), misses.begin(), misses.end());
        all.used = all.memory.size();
    }
}

std::size_t BlockRun::misses() const {
    std::size_t all = 0;
    for (const Part& part : parts) all += part.used;
    return all;
}

void BlockRun::clear() {
    blocks.clear();
    sampled.clear();
    for (Part& part : parts) part.used = 0;
    if (parts.size() == 1) parts[0].memory.clear();
    lost_reads = lost_writes = 0;
}

}  // namespace warpgrade::vgpu
