#include "server/arrangement.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpgrade::device {

bool Arrangement::add(const wire::Region& region, std::span<const std::byte> bytes) {
    region.for_each_part(0, bytes.size(), [&](std::uint64_t address, std::uint64_t done, std::uint64_t part) {
        if (!is_full()) add_run(address, bytes.subspan(done, part));
    });
    return !is_full();
}

void Arrangement::add_run(std::uint64_t address, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    cut_out(address, address + bytes.size());
    const auto next = runs_.lower_bound(address);
    if (next != runs_.begin()) {
        auto& [before, its] = *std::prev(next);
        if (before + its.size() == address) {
            its.insert(its.end(), bytes.begin(), bytes.end());
            return;
        }
    }
    runs_.emplace_hint(next, address, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void Arrangement::cut_out(std::uint64_t begin, std::uint64_t end) {
    auto at = runs_.lower_bound(begin);
    if (at != runs_.begin() && std::prev(at)->first + std::prev(at)->second.size() > begin) --at;
    while (at != runs_.end() && at->first < end) {
        const std::uint64_t address = at->first;
        std::vector<std::byte> bytes = std::move(at->second);
        at = runs_.erase(at);
        const std::uint64_t from = std::max(begin, address) - address,
                            to = std::min<std::uint64_t>(end - address, bytes.size());
        if (from == 0 && to == bytes.size()) {
            replaced_.push_back({address, std::move(bytes)});
            continue;
        }
        cut_bytes_ += bytes.size();
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(from),
                   last = bytes.begin() + static_cast<std::ptrdiff_t>(to);
        if (to < bytes.size()) at = runs_.emplace_hint(at, address + to, std::vector<std::byte>(last, bytes.end()));
        replaced_.push_back({address + from, {first, last}});
        bytes.resize(from);
        if (from > 0) runs_.emplace(address, std::move(bytes));
    }
}

std::vector<Arrangement::Run> Arrangement::take() {
    std::vector<Run> all = std::move(replaced_);
    const std::size_t settled = all.size();
    for (auto& [address, bytes] : runs_) {
        if (all.size() > settled && all.back().address + all.back().bytes.size() == address)
            all.back().bytes.insert(all.back().bytes.end(), bytes.begin(), bytes.end());
        else
            all.push_back({address, std::move(bytes)});
    }
    replaced_.clear(), runs_.clear(), cut_bytes_ = 0;
    return all;
}

}  // namespace warpgrade::device
