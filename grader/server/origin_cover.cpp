#include "server/origin_cover.hpp"

#include <algorithm>
#include <bit>

namespace warpgrade::server {
namespace {

constexpr std::size_t window = 16;         // the shortest run in the middle of a source, in bytes
constexpr std::size_t download_run = 128;  // bytes that a warp moves at once
constexpr std::uint64_t jump_cost = 8;     // the size of an address
// Padding lies between rows; adjacent fills with different values are data.
constexpr std::uint64_t fill_after_fill_cost = 32;
constexpr std::size_t max_words = 65536, max_indexed = std::size_t{8} << 20, max_candidates = 8;

std::uint64_t head(const std::byte* at) {
    std::uint64_t a, b;
    std::memcpy(&a, at, 8);
    std::memcpy(&b, at + 8, 8);
    return (a * 0x9E3779B97F4A7C15ULL) ^ (b + (a >> 29));
}

std::uint64_t fill_key(std::uint64_t value, std::size_t length) { return value * 0x9E3779B97F4A7C15ULL + length; }

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

void UploadCover::add_source(Bytes bytes, unsigned element_bytes) {
    if (bytes.empty()) return;
    inputs_.push_back(sources_.size());
    sources_.push_back({bytes, std::max(element_bytes, 1u)});
    unit_ = std::min(unit_, std::bit_floor(sources_.back().element_bytes));
}

void UploadCover::add_download(Bytes bytes) {
    if (bytes.size() < window) return;
    came_.emplace(head(bytes.data()), sources_.size());
    sources_.push_back({bytes, 4});
}

void UploadCover::explain(Bytes piece) {
    after_fill_ = false;
    while (!piece.empty()) {
        std::size_t run = match_source(piece);
        if (run == 0) run = match_download(piece);
        const bool is_fill = run == 0 && (run = match_fill(piece)) != 0;
        if (run == 0) run = match_anywhere(piece);
        const bool is_known = run != 0 && !is_fill;
        if (run == 0) run = charge(piece);
        after_fill_ = !is_known;
        piece = piece.subspan(run);
    }
}

// Charges for bytes that nothing explains, in steps of the smallest element, so that the next source is found where it
// begins. A single element of padding is free the second time.
std::size_t UploadCover::charge(Bytes rest) {
    const std::size_t size = std::min<std::size_t>(4, rest.size());
    std::uint32_t word = 0;
    std::memcpy(&word, rest.data(), size);
    const bool seen = size == 4 && !fills_.insert(fill_key(word, size)).second;
    if (seen && !after_fill_) return size;
    const std::size_t run = std::min<std::size_t>(unit_, size);
    cost_ += run;
    if (first_.empty())
        first_.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, rest.size())));
    if (words_.size() < max_words) words_.push_back(word);
    return run;
}

// Matches the longest run at the start of an input or where its last run ended.
std::size_t UploadCover::match_source(Bytes rest) {
    Source* best = nullptr;
    std::size_t longest = 0, place = 0;
    for (const std::size_t i : inputs_) {
        Source& source = sources_[i];
        for (const std::size_t start : {source.cursor, std::size_t{0}}) {
            const std::size_t run = common_prefix(source.bytes.subspan(start), rest);
            const bool whole_elements = run >= source.element_bytes;
            const bool enough =
                run == rest.size() || start + run == source.bytes.size() || run >= window || start == source.cursor;
            if (whole_elements && enough && run > longest) best = &source, longest = run, place = start;
        }
    }
    if (!best) return 0;
    // Only whole elements: the next bytes may match by chance.
    if (longest < rest.size()) longest -= longest % best->element_bytes;
    best->cursor = place + longest;
    return longest;
}

std::size_t UploadCover::match_download(Bytes rest) {
    if (last_download_ != npos) {
        Source& last = sources_[last_download_];
        const std::size_t run = common_prefix(last.bytes.subspan(last.cursor), rest);
        if (run >= download_run || run == rest.size()) return last.cursor += run, run;
    }
    if (rest.size() < download_run) return 0;
    const auto [begin, end] = came_.equal_range(head(rest.data()));
    std::size_t candidates = 0;
    for (auto at = begin; at != end && candidates < max_candidates; ++at, ++candidates) {
        Source& source = sources_[at->second];
        const std::size_t run = common_prefix(source.bytes, rest);
        if (run < download_run) continue;
        last_download_ = at->second;
        return source.cursor = run;
    }
    return 0;
}

// Matches a repeated element, as in padding.
std::size_t UploadCover::match_fill(Bytes rest) {
    std::size_t longest = 0;
    std::uint64_t value = 0;
    for (const std::size_t width : {1, 2, 4, 8}) {
        if (rest.size() < 2 * width) break;
        const std::size_t run = width + common_prefix(rest, rest.subspan(width));
        // Only whole elements, as in match_source(): the next element may begin like the padding.
        const std::size_t whole = run - run % (run < rest.size() ? std::max<std::size_t>(width, unit_) : width);
        if (whole < 2 * width || whole <= longest || (whole < 8 && whole < rest.size())) continue;
        longest = whole;
        value = 0;
        std::memcpy(&value, rest.data(), width);
    }
    if (longest == 0) return 0;
    if (after_fill_)
        cost_ += std::min<std::uint64_t>(fill_after_fill_cost, longest);
    else if (fills_.insert(fill_key(value, longest)).second)
        cost_ += std::min<std::uint64_t>(jump_cost, longest);
    return longest;
}

void UploadCover::build_index() {
    for (; indexed_ < sources_.size(); ++indexed_) {
        const Source& source = sources_[indexed_];
        for (std::size_t at = 0; at + window <= source.bytes.size() && index_.size() < max_indexed;
             at += source.element_bytes)
            index_.emplace(head(source.bytes.data() + at),
                           std::pair(indexed_, static_cast<std::uint32_t>(at / source.element_bytes)));
    }
}

std::size_t UploadCover::match_anywhere(Bytes rest) {
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
    // Just before the end of the last run, which was too long by chance.
    const bool near = place < best->cursor && best->cursor - place <= 64;
    cost_ += near ? 1 : jump_cost;
    best->cursor = place + longest;
    if (std::ranges::find(inputs_, best - sources_.data()) == inputs_.end()) last_download_ = best - sources_.data();
    return longest;
}

}  // namespace warpgrade::server
