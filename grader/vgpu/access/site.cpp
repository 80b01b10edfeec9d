#include "vgpu/access/site.hpp"

#include <algorithm>

namespace warpgrade::vgpu {

void Pattern::learn(const Access& access, unsigned bytes_of_lane) {
    static_cast<Access&>(*this) = access;
    bytes = bytes_of_lane;
    leader = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t first = access.address[leader];
    for (unsigned l = 0; l < warp_size; ++l) address[l] -= first;
    for (unsigned l = 0; l < warp_size; ++l) near_[l] = static_cast<std::uint32_t>(address[l]);
    low -= first;
    high -= first;
    extent = high - low + bytes;
    wavefronts_ = {0, 0};
    local_sectors_ = words_ = 0;
    std::fill(std::begin(lines_by_place_), std::end(lines_by_place_), std::uint8_t{0});
    lines_.clear();
    granules_.runs.clear();
    find_windows();
}

void Pattern::find_windows() {
    words = Words::Apart;
    reach = low;
    if (bytes != bank_bytes) return;
    bool windowed = true;
    for (unsigned g = 0; g < 4; ++g) {
        const std::uint64_t* a = address + 8 * std::size_t{g};
        const auto begin =
            *std::min_element(a, a + 8, [&](std::uint64_t x, std::uint64_t y) { return x - low < y - low; });
        window[g] = begin;
        reach = std::max(reach - low, begin - low + sector_bytes) + low;
        for (unsigned l = 0; l < 8; ++l) {
            const std::uint64_t distance = a[l] - begin;
            windowed &= distance < sector_bytes;  // whole words: the access is aligned
            word[8 * g + l] = static_cast<std::uint8_t>(distance / bank_bytes);
        }
    }
    if (mask == full_mask && kind != Kind::Other)
        words = kind == Kind::Uniform ? Words::One : Words::Adjacent;
    else if (windowed)
        words = Words::Windows;
    if (words == Words::One) reach = low + bytes;
}

bool Pattern::is(const Access& access, unsigned bytes_of_lane) const {
    if (mask != access.mask || bytes != bytes_of_lane) return false;
    const std::uint64_t first = access.address[leader];
    std::uint64_t wrong = 0;
    for (unsigned l = 0; l < warp_size; ++l) wrong |= (access.address[l] - first) ^ address[l];
    return wrong == 0;
}

Access Pattern::at(std::uint64_t first) const {
    Access moved = static_cast<const Access&>(*this);
    for (std::uint64_t& a : moved.address) a += first;
    moved.low += first;
    moved.high += first;
    return moved;
}

std::uint32_t Pattern::words_at(std::uint64_t first) {
    if (bytes < bank_bytes) return at(first).distinct_words(bytes);
    if (words_ == 0) words_ = distinct_words(bytes);
    return words_;
}

std::uint32_t Pattern::local_sectors_anywhere() {
    if (local_sectors_ == 0) local_sectors_ = local_sectors(*this, bytes);
    return local_sectors_;
}

std::uint8_t Pattern::learn_lines(std::uint64_t place) {
    const LineParts touched(*this, place, bytes);
    const std::uint32_t l1_cycles = at(place).l1_cycles(bytes, touched.size());
    const bool filled = fills_sectors(bytes);
    const auto same = [&](const ShapeLines& known) {
        return known.l1_cycles == l1_cycles && known.filled == filled && std::ranges::equal(known.parts, touched);
    };
    const auto known = std::ranges::find_if(lines_, same);
    if (known == lines_.end()) {
        ShapeLines& lines = lines_.emplace_back();
        lines.parts.assign(touched.begin(), touched.end());
        lines.sectors = touched.sectors();
        lines.l1_cycles = l1_cycles;
        lines.filled = filled;
        return static_cast<std::uint8_t>(lines_.size());
    }
    return static_cast<std::uint8_t>(known - lines_.begin() + 1);
}

Pattern* PatternPool::find(const Access& access, unsigned bytes) {
    if (!patterns_) patterns_ = std::make_unique<Pattern[]>(capacity);
    const std::uint64_t first = access.address[std::countr_zero(access.mask)];
    std::uint32_t hash = access.mask * 0x9E3779B1u + bytes;
    for (unsigned l = 0; l < warp_size; ++l)
        hash += static_cast<std::uint32_t>(access.address[l] - first) * (0x85EBCA77u * (2 * l + 1));
    Pattern& p = patterns_[(hash * 0xC2B2AE3Du >> 16) % capacity];
    if (!p.is(access, bytes)) {
        p.learn(access, bytes);
        ++replacements_;
    }
    return &p;
}

std::uint32_t local_sectors(const Access& x, unsigned bytes) {
    std::uint32_t total = 0;
    for (unsigned i = 0; i < (bytes + 3) / 4; ++i) {
        Access rows_of_words;
        std::uint64_t physical[warp_size];
        for (unsigned l = 0; l < warp_size; ++l) physical[l] = ((x.address[l] / 4 + i) * warp_size + l) * 4;
        rows_of_words.collect(physical, 0, x.mask, 4);
        total += rows_of_words.sectors(4);
    }
    return total;
}

}  // namespace warpgrade::vgpu
