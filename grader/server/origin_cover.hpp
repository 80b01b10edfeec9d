// Explains uploaded bytes as runs of known bytes, for the origin of outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace warpgrade::server {

using Bytes = std::span<const std::byte>;

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// The length of the common prefix.
std::size_t common_prefix(Bytes a, Bytes b);
// The offset of `part` in `whole`, a multiple of `step` and at least `from`; npos if it is not there.
inline constexpr std::size_t npos = ~std::size_t{0};
std::size_t find_bytes(Bytes whole, Bytes part, std::size_t from, std::size_t step);

// Explains uploads as runs of their sources. A run is free at the start of a source or where its last run ended; at any
// other place it costs a few bytes. Bytes that nothing explains cost themselves.
class UploadCover {
  public:
    // Adds an input of the call.
    void add_source(Bytes bytes, unsigned element_bytes);
    // Adds an earlier download. There may be many. If each could continue where its last run ended, element by element,
    // they would explain any order of the elements. So only long runs are free, and only the last download continues.
    void add_download(Bytes bytes);
    void explain(Bytes piece);
    [[nodiscard]] std::uint64_t cost() const { return cost_; }
    // The first bytes that nothing explained.
    [[nodiscard]] const std::vector<std::byte>& first_unexplained() const { return first_; }
    [[nodiscard]] const std::vector<std::uint32_t>& unexplained_words() const { return words_; }

  private:
    struct Source {
        Bytes bytes;
        unsigned element_bytes;
        std::size_t cursor = 0;
    };
    std::size_t match_source(Bytes rest);
    std::size_t match_download(Bytes rest);
    std::size_t match_fill(Bytes rest);
    std::size_t match_anywhere(Bytes rest);
    std::size_t charge(Bytes rest);
    void build_index();

    std::vector<Source> sources_;
    std::vector<std::size_t> inputs_;                           // indices of sources
    std::unordered_multimap<std::uint64_t, std::size_t> came_;  // indices of sources, by their first bytes
    std::size_t last_download_ = npos;
    unsigned unit_ = 8;                        // bytes of the smallest elements
    std::unordered_set<std::uint64_t> fills_;  // keys of values and lengths
    std::unordered_multimap<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> index_;  // first bytes → place
    std::uint32_t indexed_ = 0;                                                              // number of sources
    bool after_fill_ = false;
    std::uint64_t cost_ = 0;
    std::vector<std::byte> first_;
    std::vector<std::uint32_t> words_;
};

}  // namespace warpgrade::server
