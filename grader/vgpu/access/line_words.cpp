#include "vgpu/access/line_words.hpp"

#include <utility>

namespace warpgrade::vgpu {

std::uint64_t* LinePages::get(std::uint64_t page) {
    const std::lock_guard lock(mutex_);
    HostPages& words = pages_[page];
    if (!words.data()) words = HostPages(sizeof(std::uint64_t) << log_lines);
    return reinterpret_cast<std::uint64_t*>(words.data());
}

LineWords::Page& LineWords::place_of(std::uint64_t number) {
    std::size_t at = number % known_.size();
    while (known_[at].origin != 0 && known_[at].number != number) at = (at + 1) % known_.size();
    return known_[at];
}

void LineWords::grow() {
    std::vector<Page> old(2 * known_.size());
    std::swap(known_, old);
    for (const Page& page : old)
        if (page.origin != 0) place_of(page.number) = page;
}

const LineWords::Page& LineWords::find(std::uint64_t number) {
    if (const Page& known = place_of(number); known.origin != 0) return known;
    const auto words = reinterpret_cast<std::uintptr_t>(pages_->get(number));
    if (4 * ++count_ > known_.size()) grow();
    return place_of(number) = {number, words - (number << LinePages::log_lines) * sizeof(std::uint64_t)};
}

}  // namespace warpgrade::vgpu
