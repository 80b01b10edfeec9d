#include "server/pair_cover.hpp"

#include <algorithm>
#include <bit>

namespace warpgrade::server {
namespace {

constexpr std::size_t warp_elements = 32, word_bytes = 4, max_element = 8;
constexpr std::size_t block_elements = warp_elements / 2, max_candidates = 64;
constexpr unsigned max_looked_up = 8;  // unexplained pieces
// Downloads of less than a warp's elements that go up again. With many, host code puts elements where it likes.
constexpr unsigned max_short_downloads = 32;

std::vector<std::byte> interleave(Bytes mine, Bytes other) {
    std::vector<std::byte> pairs(2 * std::min(mine.size(), other.size()));
    for (std::size_t i = 0; i < pairs.size() / 2; ++i) pairs[2 * i] = mine[i], pairs[2 * i + 1] = other[i];
    return pairs;
}

bool is_same_in_both(Bytes pairs) {
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
        if (pairs[i] != pairs[i + 1]) return false;
    return true;
}

std::size_t common_suffix(Bytes a, Bytes b, std::size_t most) {
    std::size_t count = 0;
    most = std::min({most, a.size(), b.size()});
    while (count < most && a[a.size() - 1 - count] == b[b.size() - 1 - count]) ++count;
    return count;
}

std::uint64_t hash_block(Bytes bytes) {
    std::uint64_t key = bytes.size();
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8)
        key = (key ^ load<std::uint64_t>(bytes.data() + at)) * 0x9E3779B97F4A7C15ULL, key ^= key >> 29;
    return key;
}

}  // namespace

void PairCover::add_source(Bytes mine, Bytes other, unsigned element_bytes) { add(mine, other, element_bytes, true); }

void PairCover::add_download(Bytes mine, Bytes other) { add(mine, other, word_bytes, false); }

void PairCover::add(Bytes mine, Bytes other, unsigned element_bytes, bool is_input) {
    if (mine.empty() || other.empty()) return;
    const std::size_t size = std::min(mine.size(), other.size());
    sources_.push_back(
        {mine.first(size), other.first(size), {}, 2 * std::size_t{std::max(element_bytes, 1u)}, is_input});
    if (is_input) unit_ = std::min(unit_, std::bit_floor(sources_.back().element));
}

bool PairCover::is_one_piece(Bytes mine, Bytes other) {
    if (mine.size() != other.size()) return false;
    for (Source& source : sources_) {
        if (!source.is_input) continue;
        for (const std::size_t at : {source.cursor / 2, std::size_t{0}}) {
            if (at + mine.size() > source.mine.size()) continue;
            const bool goes_on = at == source.cursor / 2, is_long = 2 * mine.size() >= warp_elements * source.element;
            if (!goes_on && !is_long && mine.size() != source.mine.size()) continue;
            if (common_prefix(source.mine.subspan(at), mine) < mine.size() ||
                common_prefix(source.other.subspan(at), other) < other.size())
                continue;
            source.cursor = 2 * (at + mine.size());
            source.difference = npos;
            last_ = &source;
            return true;
        }
    }
    return false;
}

bool PairCover::explain_arguments(Bytes mine, Bytes other) {
    const std::uint64_t before = cost_;
    goes_on_ = false;
    explain(mine, other);
    goes_on_ = true;
    return cost_ == before && cost_ < max_cost;
}

void PairCover::explain(Bytes mine, Bytes other) {
    if (goes_on_ && is_one_piece(mine, other)) return;
    for (Source& source : sources_) {
        if (source.pairs.empty()) {
            source.pairs = interleave(source.mine, source.other);
            source.first_difference = next_difference(source.pairs, 0);
        }
        if (source.difference == npos) source.difference = next_difference(source.pairs, source.cursor);
    }
    const auto all = interleave(mine, other);
    const Source* open = nullptr;  // of a piece that is too short so far
    std::size_t length = 0;
    for (std::size_t at = next_difference(all, 0); at < all.size() && cost_ < max_cost; at = next_difference(all, at)) {
        const Piece piece = find(all, at);
        if (!piece.source) {
            const std::size_t unit = std::min(unit_, all.size() - at);
            charge(Bytes(all).subspan(at), unit);
            at += unit;
            continue;
        }
        const bool is_short = piece.length < warp_elements * piece.source->element;
        if (!piece.source->is_input && !piece.goes_on && is_short && ++short_downloads_ > max_short_downloads)
            charge(Bytes(all).subspan(at), piece.bytes);
        if (!piece.goes_on && open) charge(Bytes(all).subspan(at), length);
        Source& source = *piece.source;
        const std::size_t end = piece.from + piece.bytes;
        length = piece.goes_on && &source == last_ ? length + end - source.cursor : piece.length;
        source.cursor = end;
        source.difference = next_difference(source.pairs, end);
        last_ = &source;
        uses_download_ |= !source.is_input;
        const bool is_complete = length >= warp_elements * source.element || source.difference == source.pairs.size();
        open = is_complete ? nullptr : &source;
        at += piece.bytes;
    }
}

std::size_t PairCover::next_difference(Bytes pairs, std::size_t at) const {
    while (at < pairs.size() && is_same_in_both(pairs.subspan(at, std::min(unit_, pairs.size() - at)))) at += unit_;
    return std::min(at, pairs.size());
}

std::size_t PairCover::end_of_differences(Bytes pairs) const {
    std::size_t end = pairs.size();
    while (end > 0) {
        const std::size_t unit = (end - 1) / unit_ * unit_;  // the last one, which may be cut off
        if (!is_same_in_both(pairs.subspan(unit, end - unit))) break;
        end = unit;
    }
    return end;
}

PairCover::Piece PairCover::find(Bytes all, std::size_t at) {
    Piece best;
    for (Source& source : sources_) {
        if (goes_on_ && (source.is_input || &source == last_)) consider(best, source, source.difference, all, at, true);
        consider(best, source, source.first_difference, all, at, false);
        if (best.bytes == all.size() - at) return best;
    }
    for (Source& source : sources_)
        if (best.bytes < warp_elements * source.element) find_anywhere(best, source, all, at);
    return best;
}

void PairCover::consider(Piece& best, Source& source, std::size_t from, Bytes all, std::size_t at, bool goes_on) const {
    const Bytes pairs = source.pairs;
    std::size_t run = common_prefix(pairs.subspan(from), all.subspan(at));
    // Only whole elements: the next bytes may match by chance.
    if (at + run < all.size()) run -= std::min(run, (from + run) % source.element);
    const std::size_t bytes = end_of_differences(pairs.subspan(from, run));
    if (bytes <= best.bytes) return;
    const std::size_t warp = warp_elements * source.element;
    const std::size_t before = common_suffix(pairs.first(from), all.first(at), warp);
    if (goes_on || before + run >= warp || before + run == pairs.size())
        best = {&source, from, bytes, before + run, goes_on};
}

void PairCover::find_anywhere(Piece& best, Source& source, Bytes all, std::size_t at) {
    const Bytes pairs = source.pairs;
    const std::size_t block = block_elements * source.element, warp = warp_elements * source.element;
    if (source.blocks.empty()) {
        for (std::size_t from = 0; from + block <= pairs.size(); from += block)
            source.blocks.emplace_back(hash_block(pairs.subspan(from, block)),
                                       static_cast<std::uint32_t>(from / block));
        std::ranges::sort(source.blocks);
    }
    // A piece of a warp's elements around this place contains a block, which begins before or after it.
    for (std::size_t begin = at - std::min(at, warp); begin < at + block && begin + block <= all.size();
         begin += unit_) {
        const auto key = hash_block(all.subspan(begin, block));
        auto found = std::ranges::lower_bound(source.blocks, std::pair(key, std::uint32_t{0}));
        for (std::size_t tried = 0; found != source.blocks.end() && found->first == key && tried < max_candidates;
             ++found, ++tried) {
            const std::size_t from = found->second * block + at;
            if (from >= begin && from - begin < pairs.size()) consider(best, source, from - begin, all, at, false);
        }
    }
}

void PairCover::charge(Bytes rest, std::size_t bytes) {
    cost_ += bytes / 2;
    if (first_.empty())
        for (std::size_t i = 0; i < std::min(rest.size(), 2 * max_element); i += 2) first_.push_back(rest[i]);
    if (charges_ == max_looked_up || (charges_ != 0 && !is_rearranged_)) return;
    ++charges_;
    is_rearranged_ = std::ranges::any_of(sources_, [&](const Source& source) {
        return source.is_input && rest.size() >= source.element &&
               find_bytes(source.pairs, rest.first(source.element), 0, source.element) != npos;
    });
}

}  // namespace warpgrade::server
