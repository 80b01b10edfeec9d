#include "server/pair_cover.hpp"

#include <algorithm>
#include <bit>

namespace warpgrade::server {
namespace {

constexpr std::size_t warp_elements = 32, word_bytes = 4, max_element = 8, max_overshoot = 8;
constexpr std::size_t block_elements = warp_elements / 2, max_candidates = 64;
constexpr unsigned max_looked_up = 8;  // unexplained pieces

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
    for (Source& source : sources_)
        if (source.pairs.empty()) source.pairs = interleave(source.mine, source.other);
    const auto all = interleave(mine, other);
    const Source* open = nullptr;  // of a piece that is too short so far
    std::size_t length = 0;
    for (Bytes rest = all; !rest.empty() && cost_ < max_cost;) {
        const Piece piece = find(rest);
        if (!piece.source) {
            const std::size_t unit = std::min(unit_, rest.size());
            if (!is_same_in_both(rest.first(unit))) charge(rest, unit);
            rest = rest.subspan(unit);
            continue;
        }
        if (!piece.goes_on && open) charge(rest, length);
        length = piece.goes_on && piece.source == last_ ? length + piece.bytes : piece.bytes;
        piece.source->cursor = piece.at + piece.bytes;
        last_ = piece.source;
        uses_download_ |= !last_->is_input;
        const bool is_complete = length >= warp_elements * last_->element || last_->cursor == last_->pairs.size();
        open = is_complete ? nullptr : last_;
        rest = rest.subspan(piece.bytes);
    }
}

PairCover::Piece PairCover::find(Bytes rest) {
    Piece best;
    for (Source& source : sources_) {
        if (goes_on_ && (source.is_input || &source == last_)) {
            consider(best, source, source.cursor, rest, true);
            // The last piece may be too long by chance: padding is the same in both runs.
            for (std::size_t back = source.element; back <= std::min(source.cursor, max_overshoot * source.element);
                 back += source.element) {
                const std::size_t at = source.cursor - back;
                if (!is_same_in_both(Bytes(source.pairs).subspan(at, source.element))) break;
                consider(best, source, at, rest, true);
            }
        }
        if (source.cursor != 0 || !source.is_input || !goes_on_) consider(best, source, 0, rest, false);
        if (best.bytes == rest.size()) return best;
    }
    for (Source& source : sources_)
        if (const std::size_t least = warp_elements * source.element; best.bytes < least && rest.size() >= least)
            find_anywhere(best, source, rest);
    return best;
}

void PairCover::consider(Piece& best, Source& source, std::size_t at, Bytes rest, bool goes_on) {
    std::size_t run = common_prefix(Bytes(source.pairs).subspan(at), rest);
    if (run < rest.size()) run -= run % source.element;  // the next bytes may match by chance
    const bool is_whole = at == 0 && run == source.pairs.size();
    if (run > best.bytes &&
        (goes_on ? run >= std::min(source.element, rest.size()) : is_whole || run >= warp_elements * source.element))
        best = {&source, at, run, goes_on};
}

void PairCover::find_anywhere(Piece& best, Source& source, Bytes rest) {
    const Bytes all = source.pairs;
    const std::size_t block = block_elements * source.element;
    if (source.blocks.empty()) {
        for (std::size_t at = 0; at + block <= all.size(); at += block)
            source.blocks.emplace_back(hash_block(all.subspan(at, block)), static_cast<std::uint32_t>(at / block));
        std::ranges::sort(source.blocks);
    }
    // The first block may begin at any element of the piece.
    for (std::size_t skip = 0; skip < block && skip + block <= rest.size(); skip += source.element) {
        const auto key = hash_block(rest.subspan(skip, block));
        auto at = std::ranges::lower_bound(source.blocks, std::pair(key, std::uint32_t{0}));
        for (std::size_t tried = 0; at != source.blocks.end() && at->first == key && tried < max_candidates;
             ++at, ++tried)
            if (at->second * block >= skip) consider(best, source, at->second * block - skip, rest, false);
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
