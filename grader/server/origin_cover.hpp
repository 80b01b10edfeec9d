// Explaining bytes as runs of other bytes, for the origin of outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace warpgrade::device {

using Bytes = std::span<const std::byte>;

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// How many bytes agree, from the first on.
std::size_t common_prefix(Bytes a, Bytes b);
// Where `part` begins in `whole` at a multiple of `step` from `from` on; npos: nowhere.
inline constexpr std::size_t npos = ~std::size_t{0};
std::size_t find_bytes(Bytes whole, Bytes part, std::size_t from, std::size_t step);

// Explains what went up: piece by piece, as runs of its sources. Following on from the last run of a source costs
// nothing, beginning at its start neither; any other place in it costs a few bytes, as if it was told. What nothing
// explains costs itself.
class UpCover {
  public:
    // The call's own: few.
    void add_source(Bytes bytes, unsigned element_bytes);
    // What came down before. There may be many of these, and if each could be gone on with where it was left, element
    // by element, they would spell any order of the elements: only long runs of them are free, and only the last one
    // goes on.
    void add_came(Bytes bytes);
    void explain(Bytes piece);
    [[nodiscard]] std::uint64_t cost() const { return cost_; }
    // The first bytes that nothing explained, and how many in all.
    [[nodiscard]] const std::vector<std::byte>& first_unexplained() const { return first_; }
    [[nodiscard]] const std::vector<std::uint32_t>& unexplained_words() const { return words_; }

  private:
    struct Source {
        Bytes bytes;
        unsigned element_bytes;
        std::size_t cursor = 0;
    };
    std::size_t match_source(Bytes rest);
    std::size_t match_came(Bytes rest);
    std::size_t match_fill(Bytes rest);
    std::size_t match_anywhere(Bytes rest);
    std::size_t charge(Bytes rest);
    void build_index();

    std::vector<Source> sources_;
    std::vector<std::size_t> own_;                              // of the sources
    std::unordered_multimap<std::uint64_t, std::size_t> came_;  // the others, by their first bytes
    std::size_t last_came_ = npos;
    unsigned unit_ = 8;                        // bytes of the smallest elements
    std::unordered_set<std::uint64_t> fills_;  // values and lengths
    std::unordered_multimap<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> index_;  // first bytes → place
    std::uint32_t indexed_ = 0;                                                              // sources
    bool after_fill_ = false;
    std::uint64_t cost_ = 0;
    std::vector<std::byte> first_;
    std::vector<std::uint32_t> words_;
};

}  // namespace warpgrade::device
