#include "device/origin_cover.hpp"

#include <algorithm>

namespace warpgrade::device {
namespace {

constexpr std::size_t window = 16;      // bytes that must agree before a run somewhere else counts
constexpr std::uint64_t jump_cost = 8;  // as telling where to
constexpr std::size_t max_words = 65536, max_indexed = std::size_t{8} << 20, max_candidates = 8;

std::uint64_t head(const std::byte* at) {
    std::uint64_t a, b;
    std::memcpy(&a, at, 8);
    std::memcpy(&b, at + 8, 8);
    return (a * 0x9E3779B97F4A7C15ULL) ^ (b + (a >> 29));
}

}  // namespace

std::size_t common_prefix(Bytes a, Bytes b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t at = 0;
    constexpr std::size_t stride = 256;
    while (at + stride <= most && std::memcmp(a.data() + at, b.data() + at, stride) == 0) at += stride;
    while (at < most && a[at] == b[at]) ++at;
    return at;
}

std::size_t find_bytes(Bytes whole, Bytes part, std::size_t from, std::size_t step) {
    if (part.empty() || part.size() > whole.size()) return npos;
    while (from + part.size() <= whole.size()) {
        const void* found = memmem(whole.data() + from, whole.size() - from, part.data(), part.size());
        if (!found) return npos;
        const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - whole.data());
        if (at % step == 0) return at;
        from = at + 1;
    }
    return npos;
}

void UpCover::add_source(Bytes bytes, unsigned element_bytes) {
    if (bytes.empty()) return;
    sources_.push_back({bytes, std::max(element_bytes, 1u)});
    unit_ = std::min<std::size_t>(unit_, sources_.back().element_bytes);
}

void UpCover::explain(Bytes piece) {
    while (!piece.empty()) {
        std::size_t run = match_source(piece);
        if (run == 0) run = match_fill(piece);
        if (run == 0) run = match_anywhere(piece);
        if (run == 0) {
            run = std::min<std::size_t>(4, piece.size());
            cost_ += run;
            if (first_.empty())
                first_.assign(piece.begin(),
                              piece.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, piece.size())));
            std::uint32_t word = 0;
            std::memcpy(&word, piece.data(), run);
            if (words_.size() < max_words) words_.push_back(word);
        }
        piece = piece.subspan(run);
    }
}

// Where a source goes on or begins; the longest run of all.
std::size_t UpCover::match_source(Bytes rest) {
    Source* best = nullptr;
    std::size_t longest = 0, place = 0;
    for (Source& source : sources_) {
        for (const std::size_t start : {source.cursor, std::size_t{0}}) {
            const std::size_t run = common_prefix(source.bytes.subspan(start), rest);
            const bool whole_elements = run >= source.element_bytes;
            const bool enough = run == rest.size() || start + run == source.bytes.size() || run >= window ||
                                (start != 0 && start == source.cursor);
            if (whole_elements && enough && run > longest) best = &source, longest = run, place = start;
        }
    }
    if (!best) return 0;
    // Whole elements: what follows may agree by chance.
    if (longest < rest.size()) longest -= longest % best->element_bytes;
    best->cursor = place + longest;
    return longest;
}

// The same element again and again, as padding is.
std::size_t UpCover::match_fill(Bytes rest) {
    std::size_t longest = 0;
    std::uint64_t value = 0;
    for (const std::size_t width : {1, 2, 4, 8}) {
        if (width < unit_) continue;
        if (rest.size() < 2 * width) break;
        const std::size_t run = width + common_prefix(rest, rest.subspan(width));
        const std::size_t whole = run - run % width;
        if (whole < 2 * width || whole <= longest || (whole < 8 && whole < rest.size())) continue;
        longest = whole;
        value = 0;
        std::memcpy(&value, rest.data(), width);
    }
    if (longest == 0) return 0;
    const std::uint64_t kind = value * 0x9E3779B97F4A7C15ULL + longest;
    if (fills_[kind]++ == 0) cost_ += std::min<std::uint64_t>(jump_cost, longest);
    return longest;
}

void UpCover::build_index() {
    for (; indexed_ < sources_.size(); ++indexed_) {
        const Source& source = sources_[indexed_];
        for (std::size_t at = 0; at + window <= source.bytes.size() && index_.size() < max_indexed;
             at += source.element_bytes)
            index_.emplace(head(source.bytes.data() + at),
                           std::pair(indexed_, static_cast<std::uint32_t>(at / source.element_bytes)));
    }
}

std::size_t UpCover::match_anywhere(Bytes rest) {
    if (rest.size() < window) return 0;
    build_index();
    const auto [begin, end] = index_.equal_range(head(rest.data()));
    std::size_t longest = 0, place = 0, candidates = 0;
    Source* best = nullptr;
    for (auto at = begin; at != end && candidates < max_candidates; ++at, ++candidates) {
        Source& source = sources_[at->second.first];
        const std::size_t start = std::size_t{at->second.second} * source.element_bytes;
        const std::size_t run = common_prefix(source.bytes.subspan(start), rest);
        if (run >= window && run > longest) best = &source, longest = run, place = start;
    }
    if (!best) return 0;
    if (longest < rest.size()) longest -= longest % best->element_bytes;
    // A run that is found again a little before the last one's end had gone too far by chance.
    const bool near = place < best->cursor && best->cursor - place <= 64;
    cost_ += near ? 1 : jump_cost;
    best->cursor = place + longest;
    return longest;
}

}  // namespace warpgrade::device
