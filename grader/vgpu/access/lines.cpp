#include "vgpu/access/lines.hpp"

#include <iterator>

namespace warpgrade::vgpu {

inline void LineParts::merge(std::int64_t line, unsigned sectors) {
    if (count_ > 0 && parts_[count_ - 1].line == line) {
        parts_[count_ - 1].sectors |= sectors;
        return;
    }
    unsigned place = hash_of_line(static_cast<std::uint64_t>(line)) >> (64 - log_places);
    for (; places_[place] != nowhere; place = (place + 1) % std::size(places_))
        if (LinePart& known = parts_[places_[place]]; known.line == line) {
            known.sectors |= sectors;
            return;
        }
    places_[place] = static_cast<std::uint8_t>(count_);
    parts_[count_++] = {line, sectors};
}

template <bool Alone>
inline void LineParts::add(std::uint64_t first, std::uint64_t last) {
    for (std::int64_t line = line_of(first); line <= line_of(last); ++line) {
        const unsigned low = line == line_of(first) ? first % line_bytes / sector_bytes : 0;
        const unsigned high = line == line_of(last) ? last % line_bytes / sector_bytes : 3;
        const unsigned sectors = ((2u << high) - 1) & ~((1u << low) - 1) & 15u;
        if constexpr (Alone)
            parts_[count_++] = {line, sectors};
        else
            merge(line, sectors);
    }
}

LineParts::LineParts(const Access& x, std::uint64_t base, unsigned bytes) {
    if (x.kind != Access::Kind::Other) {
        add<true>(base + x.address[0], base + x.address[warp_size - 1] + bytes - 1);
        return;
    }
    std::memset(places_, nowhere, sizeof places_);
    for (unsigned g = 0; g < warp_size; g += 8) {
        const std::uint64_t* a = x.address + g;
        if (x.group[g / 8] != Access::Kind::Other)
            add(base + a[0], base + a[7] + bytes - 1);
        else  // an aligned access of up to 16 bytes is in one sector
            for (unsigned l = 0; l < 8; ++l)
                merge(line_of(base + a[l]), 1u << (base + a[l]) % line_bytes / sector_bytes);
    }
}

}  // namespace warpgrade::vgpu
