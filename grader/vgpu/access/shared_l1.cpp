#include "vgpu/access/shared_l1.hpp"

#include <algorithm>
#include <utility>

namespace warpgrade::vgpu {
namespace {

constexpr std::uint32_t most_sampled = 8;
constexpr std::uint64_t enough_requests = std::uint64_t{1} << 18;  // of all multiprocessors

}  // namespace

SharedL1::SharedL1(const Multiprocessors& multiprocessors, std::size_t slots)
    : all_{std::max(multiprocessors.count, 1u), multiprocessors.blocks_at_once, multiprocessors.l1_bytes,
           multiprocessors.blocks},
      apart_((all_.count + most_sampled - 1) / most_sampled),
      slots_(slots),
      sampled_((all_.count + apart_ - 1) / apart_) {}

void SharedL1::run(Multiprocessor& its) const {
    if (its.found.empty()) {
        its.cache.begin(all_.l1_bytes);
        its.found.resize(slots_);
    }
    std::size_t most = 0;
    for (const auto& misses : its.waiting) most = std::max(most, misses.size());
    for (std::size_t i = 0; i < most; ++i)
        for (const auto& misses : its.waiting) {
            if (i >= misses.size()) continue;
            const LineRequest& miss = misses[i];
            const auto kind = static_cast<LineRequest::Kind>(miss.kind);
            if (kind == LineRequest::Kind::ReadPastL1 || kind == LineRequest::Kind::Atomic) continue;
            const unsigned sectors = kind == LineRequest::Kind::WritePart ? 0 : static_cast<unsigned>(miss.sectors);
            const unsigned there = its.cache.read(miss.line, sectors);
            if (kind != LineRequest::Kind::Read) continue;
            Found& found = its.found[miss.slot];
            found.asked += count_sectors(sectors);
            found.found += count_sectors(there);
        }
    its.waiting.clear();
}

void SharedL1::add(std::uint64_t block, std::vector<LineRequest> misses) {
    Multiprocessor& its = sampled_[number_of(block)];
    if (its.has_enough) return;
    its.requests += misses.size();
    its.has_enough = its.requests >= enough_requests / sampled_.size();
    its.waiting.push_back(std::move(misses));
    const bool is_last = its.has_enough || block + all_.count >= all_.blocks;
    if (is_last || its.waiting.size() >= all_.blocks_at_once) run(its);
}

SharedL1::Found SharedL1::found(std::size_t slot) const {
    Found all;
    for (const Multiprocessor& each : sampled_) {
        if (each.found.empty()) continue;
        all.asked += each.found[slot].asked;
        all.found += each.found[slot].found;
    }
    return all;
}

}  // namespace warpgrade::vgpu
