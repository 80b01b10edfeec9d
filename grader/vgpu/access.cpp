#include "vgpu/access.hpp"

#include <algorithm>

namespace warpgrade::vgpu {

void Access::fill_inactive() {
    std::uint64_t last = address[std::countr_zero(mask)];
    for (unsigned l = 0; l < warp_size; ++l) {
        if (lane_on(mask, l)) last = address[l];
        address[l] = last;
    }
}

void Access::classify_groups(unsigned bytes) {
    kind = Kind::Other;
    std::uint64_t any = 0, lowest = address[0], highest = address[0];
    for (unsigned l = 0; l < warp_size; ++l) {
        any |= address[l];
        lowest = address[l] < lowest ? address[l] : lowest;
        highest = address[l] > highest ? address[l] : highest;
    }
    low = lowest;
    high = highest;
    misaligned = any & (bytes - 1);
    for (unsigned g = 0; g < 4; ++g) {
        const std::uint64_t* a = address + 8 * g;
        std::uint64_t not_uniform = 0, not_contiguous = 0;
        for (unsigned l = 0; l < 8; ++l) {
            const std::uint64_t distance = a[l] - a[0];
            not_uniform |= distance;
            not_contiguous |= distance ^ (std::uint64_t{l} * bytes);
        }
        group[g] = not_uniform == 0 ? Kind::Uniform : not_contiguous == 0 ? Kind::Contiguous : Kind::Other;
    }
}

std::uint32_t Access::distinct_sectors() const {
    std::uint64_t s[warp_size];
    for (unsigned l = 0; l < warp_size; ++l) s[l] = address[l] / sector_bytes;
    std::sort(s, s + warp_size);
    return static_cast<std::uint32_t>(std::unique(s, s + warp_size) - s);
}

namespace {

// Most distinct words that one bank has to deliver, over the lanes [first, last) that are on.
std::uint32_t worst_bank(const Access& x, unsigned first, unsigned last, unsigned words_per_lane) {
    constexpr std::uint8_t none = 255;
    std::uint8_t head[bank_count], next[128];
    std::uint64_t word_of[128];
    std::uint32_t length[bank_count] = {};
    std::fill(std::begin(head), std::end(head), none);
    unsigned used = 0;
    std::uint32_t worst = 0;
    for (unsigned l = first; l < last; ++l) {
        if (!lane_on(x.mask, l)) continue;
        for (unsigned i = 0; i < words_per_lane; ++i) {
            const std::uint64_t word = x.address[l] / bank_bytes + i;
            const unsigned bank = word % bank_count;
            std::uint8_t at = head[bank];
            while (at != none && word_of[at] != word) at = next[at];
            if (at != none) continue;
            word_of[used] = word;
            next[used] = head[bank];
            head[bank] = static_cast<std::uint8_t>(used++);
            worst = std::max(worst, ++length[bank]);
        }
    }
    return worst;
}

// The common shapes without a loop over lanes: every group of eight lanes is one word or eight words in a row, and no
// two groups meet in a bank unless they are the same.
bool conflict_free_by_groups(const Access& x) {
    std::uint32_t banks = 0, shape[4];
    for (unsigned g = 0; g < 4; ++g) {
        if (x.group[g] == Access::Kind::Other) return false;
        const std::uint64_t word = x.address[8 * g] / bank_bytes;
        const auto lanes = x.group[g] == Access::Kind::Uniform ? 1u : 0xffu;
        shape[g] = std::rotl(lanes, static_cast<int>(word % bank_count));
        if (banks & shape[g]) {
            bool same = false;
            for (unsigned h = 0; h < g; ++h) same |= shape[h] == shape[g] && x.address[8 * h] / bank_bytes == word;
            if (!same) return false;
        }
        banks |= shape[g];
    }
    return true;
}

}  // namespace

Access::Wavefronts Access::wavefronts(unsigned bytes) const {
    if (bytes <= bank_bytes) {
        if (kind != Kind::Other || (bytes == bank_bytes && conflict_free_by_groups(*this))) return {1, 1};
        return {worst_bank(*this, 0, warp_size, 1), 1};
    }
    const unsigned words = bytes / bank_bytes, lanes_per_phase = warp_size / words;
    Wavefronts result{0, 0};
    for (unsigned first = 0; first < warp_size; first += lanes_per_phase) {
        const std::uint32_t worst = worst_bank(*this, first, first + lanes_per_phase, words);
        result.total += worst;
        result.ideal += worst > 0;
    }
    return result;
}

}  // namespace warpgrade::vgpu
