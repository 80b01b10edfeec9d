// Explains the uploads of two runs of a call with different inputs, as pairs of bytes: as the same piece of the inputs
// in both runs, in order, or as bytes that are equal in both. With pairs, accidental matches are practically
// impossible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "server/origin_cover.hpp"

namespace warpgrade::server {

class PairCover {
  public:
    // An input in both runs.
    void add_source(Bytes mine, Bytes other, unsigned element_bytes);
    // An earlier download in both runs, which may be uploaded again.
    void add_download(Bytes mine, Bytes other);

    // Explains bytes that are contiguous on the device. A source may continue where its last piece ended. Any other
    // piece must have a warp's elements or more, or be a whole source. What is the same in both runs, as padding is,
    // needs no explanation: it may stand between pieces, be left out, or be part of one by chance.
    void explain(Bytes mine, Bytes other);
    // The same for a launch's arguments, which can reach any place: each piece has a warp's elements or more, or is a
    // whole source. Returns true if it costs nothing.
    bool explain_arguments(Bytes mine, Bytes other);

    // The number of unexplained bytes in one run, counted up to max_cost; and the first of them.
    static constexpr std::uint64_t max_cost = 4096;
    [[nodiscard]] std::uint64_t cost() const { return cost_; }
    [[nodiscard]] const std::vector<std::byte>& first_unexplained() const { return first_; }
    // True if a download explained some of the bytes. The replay's downloads are valid only if it ran its kernels.
    [[nodiscard]] bool uses_download() const { return uses_download_; }
    // True if the first unexplained bytes are elements of inputs away from their neighbours.
    [[nodiscard]] bool is_rearranged() const { return is_rearranged_; }

  private:
    struct Source {
        Bytes mine, other;
        std::vector<std::byte> pairs;  // made on first use
        std::size_t element = 0;       // bytes of one, in pairs
        bool is_input = true;
        std::size_t cursor = 0;
        // The first place that differs between the runs, of all and from the cursor on (npos if it is not known yet).
        std::size_t first_difference = 0, difference = npos;
        // Hash and number of each block of half a warp's elements. Any piece of a warp's elements contains one.
        std::vector<std::pair<std::uint64_t, std::uint32_t>> blocks;
    };
    struct Piece {
        Source* source = nullptr;
        std::size_t from = 0, bytes = 0;
        std::size_t length = 0;  // in bytes, with what matches around it
        bool goes_on = false;
    };
    // The usual case, which needs no pairs: the bytes are the next or the first ones of an input.
    bool is_one_piece(Bytes mine, Bytes other);
    void add(Bytes mine, Bytes other, unsigned element_bytes, bool is_input);
    // The first unit at this place or later that differs between the runs; the size if none does.
    [[nodiscard]] std::size_t next_difference(Bytes pairs, std::size_t at) const;
    // The end of the last unit that differs.
    [[nodiscard]] std::size_t end_of_differences(Bytes pairs) const;
    // The longest piece of a source that begins at this place and ends with a difference.
    [[nodiscard]] Piece find(Bytes all, std::size_t at);
    void consider(Piece& best, Source& source, std::size_t from, Bytes all, std::size_t at, bool goes_on) const;
    void find_anywhere(Piece& best, Source& source, Bytes all, std::size_t at);
    void charge(Bytes rest, std::size_t bytes);

    std::deque<Source> sources_;
    std::size_t unit_ = 16;  // bytes of the smallest element, in pairs
    Source* last_ = nullptr;
    std::uint64_t cost_ = 0;
    std::vector<std::byte> first_;
    unsigned charges_ = 0, short_downloads_ = 0;
    bool is_rearranged_ = false, uses_download_ = false, goes_on_ = true;
};

}  // namespace warpgrade::server
