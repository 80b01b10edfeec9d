#include "vgpu/state/shared_layout.hpp"

namespace warpgrade::vgpu {

namespace {

// Reserved shared memory of each block, in which cooperative groups of several warps synchronise. Here it comes after
// the program's own part, on a real device before it.
constexpr std::uint32_t system_bytes = 1024;
constexpr std::uint32_t gap_bytes = 1024;

}  // namespace

SharedLayout::SharedLayout(const Code& code, std::uint32_t dynamic_bytes) {
    using Kind = SharedRange::Kind;
    for (const SharedVariable& v : code.shared_variables)
        if (v.bytes != 0) ranges_.push_back({v.begin, v.bytes, Kind::Variable, &v});
    if (dynamic_bytes != 0) ranges_.push_back({code.dynamic_shared_begin, dynamic_bytes, Kind::Dynamic, nullptr});
    const auto end = [&] { return ranges_.empty() ? 0 : ranges_.back().end(); };
    if (code.used_specials >> static_cast<unsigned>(Special::ReservedSharedOffset) & 1) {
        const std::uint32_t begin = ranges_.empty() ? 0 : (end() + gap_bytes + 63) / 64 * 64;
        ranges_.push_back({begin, system_bytes, Kind::System, nullptr});
    }
    span_ = end();
}

const SharedRange* SharedLayout::nearest(std::int64_t address) const {
    const auto distance = [&](const SharedRange& r) {
        const std::int64_t begin = r.begin, end = r.end();
        return address < begin ? begin - address : address < end ? 0 : address - end;
    };
    const SharedRange* best = nullptr;
    for (const SharedRange& r : ranges_)
        if (r.kind != SharedRange::Kind::System && (!best || distance(r) < distance(*best))) best = &r;
    return best;
}

}  // namespace warpgrade::vgpu
