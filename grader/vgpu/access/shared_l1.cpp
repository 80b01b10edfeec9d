#include "vgpu/access/shared_l1.hpp"

#include <algorithm>

namespace warpgrade::vgpu {
namespace {

constexpr std::uint32_t most_sampled = 8;
constexpr std::uint64_t enough_requests = std::uint64_t{1} << 18;

}  // namespace

SharedL1::SharedL1(const Multiprocessors& multiprocessors, std::size_t slots)
    : count_(std::max(multiprocessors.count, 1u)),
      apart_((count_ + most_sampled - 1) / most_sampled),
      blocks_at_once_(std::max(multiprocessors.blocks_at_once, 1u)),
      sets_(std::max<std::uint64_t>(multiprocessors.l1_bytes / line_bytes / ways, 1)),
      sampled_((count_ + apart_ - 1) / apart_),
      found_(slots) {}

SharedL1::Way& SharedL1::find(std::vector<Way>& cache, std::uint64_t line) const {
    const std::size_t set = (hash_of_line(line) >> 32) * sets_ >> 32;
    const std::span<Way> in = std::span(cache).subspan(set * ways, ways);
    Way* least = &in[0];
    for (Way& way : in) {
        if (way.line == line && way.used > 0) return way;
        if (way.used < least->used) least = &way;
    }
    *least = {line, 0, 0};
    return *least;
}

void SharedL1::read(std::vector<Way>& cache, const LineRequest& miss) {
    if (static_cast<LineRequest::Kind>(miss.kind) != LineRequest::Kind::Read) return;
    Way& way = find(cache, miss.line);
    const auto wanted = static_cast<unsigned>(miss.sectors);
    Found& found = found_[miss.slot];
    found.asked += count_sectors(wanted);
    found.found += count_sectors(wanted & way.sectors);
    way.sectors |= wanted;
    way.used = ++now_;
}

void SharedL1::run(Multiprocessor& multiprocessor) {
    std::vector<std::vector<LineRequest>>& blocks = multiprocessor.waiting;
    if (multiprocessor.cache.empty()) multiprocessor.cache.resize(sets_ * ways);
    std::size_t most = 0;
    for (const auto& misses : blocks) most = std::max(most, misses.size());
    for (std::size_t i = 0; i < most; ++i)
        for (const auto& misses : blocks)
            if (i < misses.size()) read(multiprocessor.cache, misses[i]);
    blocks.clear();
}

void SharedL1::add(std::uint64_t block, std::vector<LineRequest> misses) {
    if (has_enough_) return;
    requests_ += misses.size();
    has_enough_ = requests_ >= enough_requests;
    Multiprocessor& its = sampled_[block % count_ / apart_];
    its.waiting.push_back(std::move(misses));
    if (its.waiting.size() == blocks_at_once_) run(its);
}

void SharedL1::finish() {
    for (Multiprocessor& each : sampled_)
        if (!each.waiting.empty()) run(each);
}

}  // namespace warpgrade::vgpu
