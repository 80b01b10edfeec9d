#include "vgpu/checks/local_values.hpp"

#include <algorithm>

namespace warpgrade::vgpu {

namespace {

struct GranuleRange {
    std::uint64_t begin, end;
};
GranuleRange granules_at(const Warp& w, std::uint64_t address, std::uint64_t bytes) {
    const unsigned shift = w.executor->code->local_granule_shift;
    return {address >> shift, ((address + bytes - 1) >> shift) + 1};
}

// Handles the loaded elements of each lane in which nothing was written. A partly written element counts as written:
// compilers copy several variables in one piece, and the program may never use the rest.
void find_undefined(Warp& w, const Insn& in, std::uint64_t address, std::uint32_t lanes, unsigned bytes,
                    const AccessTraits& how) {
    const unsigned element = bytes / std::max(how.copies, 1u);
    for (std::uint64_t at = address; at < address + bytes; at += element) {
        const auto [begin, end] = granules_at(w, at, element);
        std::uint32_t nothing = lanes;
        for (std::uint64_t g = begin; g < end; ++g) nothing &= ~w.watch.local_written[g];
        for_active(nothing, [&](unsigned lane) {
            report_undefined_load(w, in, ptx::Space::Local, lane, address, at, bytes, how);
        });
    }
}

}  // namespace

template <Op O>
void watch_local(Warp& w, const Insn& in, const Access& x, unsigned bytes, const AccessTraits& how) {
    std::uint32_t* const written = w.watch.local_written;
    const auto visit = [&](std::uint64_t address, std::uint32_t lanes) {
        const auto [begin, end] = granules_at(w, address, bytes);
        if (O != Op::Store) {
            std::uint32_t all = lanes;
            for (std::uint64_t g = begin; g < end; ++g) all &= written[g];
            if (all != lanes) [[unlikely]]
                find_undefined(w, in, address, lanes & ~all, bytes, how);
        }
        if (O == Op::Load) return;
        const unsigned shift = w.executor->code->local_granule_shift;
        for (std::uint64_t g = begin; g < end; ++g) {
            const std::uint64_t at = std::max(g << shift, address) - address;
            const std::uint32_t undefined = how.undefined ? lanes & how.undefined->at_byte(at, bytes) : 0;
            written[g] = (written[g] | lanes) & ~undefined;
            for_active(undefined, [&](unsigned lane) {
                w.watch.local_origins.insert_or_assign(g * warp_size + lane, w.watch.stored_origin);
            });
        }
    };
    if (x.kind == Access::Kind::Uniform) return visit(x.low, x.mask);
    for_active(x.mask, [&](unsigned lane) { visit(x.address[lane], 1u << lane); });
}
template void watch_local<Op::Load>(Warp&, const Insn&, const Access&, unsigned, const AccessTraits&);
template void watch_local<Op::Store>(Warp&, const Insn&, const Access&, unsigned, const AccessTraits&);
template void watch_local<Op::Atomic>(Warp&, const Insn&, const Access&, unsigned, const AccessTraits&);

void forget_local(Warp& w, std::uint32_t begin, std::uint32_t bytes, std::uint32_t lanes) {
    if (!w.watch.local_written || bytes == 0) return;
    const auto range = granules_at(w, begin, bytes);
    for (std::uint64_t g = range.begin; g < range.end; ++g) w.watch.local_written[g] &= ~lanes;
    std::erase_if(w.watch.local_origins, [&](const auto& one) {
        const std::uint64_t granule = one.first / warp_size;
        return granule >= range.begin && granule < range.end && lane_on(lanes, one.first % warp_size);
    });
}

void define_local(Warp& w, std::uint32_t begin, std::uint32_t bytes, std::uint32_t lanes) {
    if (!w.watch.local_written) return;
    const auto range = granules_at(w, begin, bytes);
    for (std::uint64_t g = range.begin; g < range.end; ++g) w.watch.local_written[g] |= lanes;
}

}  // namespace warpgrade::vgpu
