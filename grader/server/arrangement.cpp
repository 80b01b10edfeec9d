#include "server/arrangement.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpgrade::server {

bool Arrangement::add(const wire::Region& region, std::span<const std::byte> bytes) {
    region.for_each_part(0, bytes.size(), [&](std::uint64_t address, std::uint64_t done, std::uint64_t part) {
        if (!is_full()) add_run(address, bytes.subspan(done, part));
    });
    return !is_full();
}

bool Arrangement::Run::join(std::span<const std::byte> more) {
    if (bytes.size() >= long_bytes && more.size() >= long_bytes) return false;
    if (joined.empty()) joined.assign(bytes.begin(), bytes.end());
    joined.insert(joined.end(), more.begin(), more.end());
    bytes = joined;
    return true;
}

void Arrangement::add_run(std::uint64_t address, std::span<const std::byte> bytes) {
    if (bytes.empty() || is_there(address, bytes)) return;
    cut_out(address, address + bytes.size());
    const auto next = runs_.lower_bound(address);
    if (next != runs_.begin())
        if (auto& [begin, before] = *std::prev(next); before.end() == address && !before.remains && before.join(bytes))
            return;
    runs_.emplace_hint(next, address, Run{address, bytes, {}});
}

bool Arrangement::is_there(std::uint64_t address, std::span<const std::byte> bytes) const {
    const auto after = runs_.upper_bound(address);
    if (after == runs_.begin()) return false;
    const Run& run = std::prev(after)->second;
    return run.end() >= address + bytes.size() &&
           std::ranges::equal(bytes, run.bytes.subspan(address - run.address, bytes.size()));
}

void Arrangement::cut_out(std::uint64_t begin, std::uint64_t end) {
    // What remains of a run; it copies the bytes if the run owns them.
    const auto cut_piece = [&](const Run& run, std::uint64_t from, std::uint64_t to) {
        Run piece{run.address + from, run.bytes.subspan(from, to - from), {}, true};
        if (run.joined.empty()) return piece;
        cut_bytes_ += piece.bytes.size();
        piece.joined.assign(piece.bytes.begin(), piece.bytes.end());
        piece.bytes = piece.joined;
        return piece;
    };
    auto at = runs_.lower_bound(begin);
    if (at != runs_.begin() && std::prev(at)->second.end() > begin) --at;
    while (at != runs_.end() && at->first < end) {
        Run run = std::move(at->second);
        at = runs_.erase(at);
        const std::uint64_t from = std::max(begin, run.address) - run.address,
                            to = std::min<std::uint64_t>(end - run.address, run.bytes.size());
        if (to < run.bytes.size()) at = runs_.emplace_hint(at, run.address + to, cut_piece(run, to, run.bytes.size()));
        if (from > 0) runs_.emplace(run.address, cut_piece(run, 0, from));
        if (!run.remains) replaced_.push_back(std::move(run));
    }
}

std::vector<Arrangement::Run> Arrangement::take() {
    std::vector<Run> all = std::move(replaced_);
    const std::size_t replaced = all.size();
    const auto remains = [](const auto& each) { return each.second.remains; };
    if (std::ranges::count_if(runs_, remains) <= static_cast<std::ptrdiff_t>(max_remains))
        std::erase_if(runs_, remains);
    for (auto& [address, run] : runs_)
        if (all.size() == replaced || all.back().end() != address || !all.back().join(run.bytes))
            all.push_back(std::move(run));
    replaced_.clear(), runs_.clear(), cut_bytes_ = 0;
    return all;
}

}  // namespace warpgrade::server
