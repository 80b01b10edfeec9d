// Explains what went up in two runs of a call with other inputs, byte by byte in pairs: as pieces of the inputs, the
// same piece in both runs and in its order, or as bytes that are the same in both. With values of two runs, chance
// finds nothing that was not meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "server/origin_cover.hpp"

namespace warpgrade::device {

class PairCover {
  public:
    // An input: what it held in this run, and in the other.
    void add_source(Bytes mine, Bytes other, unsigned element_bytes);
    // What came down before, and may go up again in pieces of its own.
    void add_came(Bytes mine, Bytes other);

    // Bytes that lie side by side on the device. Where the last piece of a source ended, it may go on, whatever lies
    // between; any other piece has a warp's elements or more, or is a whole source.
    void explain(Bytes mine, Bytes other);

    // Bytes of one run that are no such piece, counted up to `enough`; the first of them.
    static constexpr std::uint64_t enough = 4096;
    [[nodiscard]] std::uint64_t cost() const { return cost_; }
    [[nodiscard]] const std::vector<std::byte>& first_unexplained() const { return first_; }
    // Something came down before: what it was in the other run is known only if kernels ran there.
    [[nodiscard]] bool used_came() const { return used_came_; }
    // They are an input's element, at a place where its neighbours are not.
    [[nodiscard]] bool is_arranged() const { return is_arranged_; }

  private:
    struct Source {
        Bytes mine, other;
        std::vector<std::byte> pairs;  // when a piece is looked for that is not the whole of what was sent
        std::size_t element = 0;       // bytes of one, in pairs
        bool is_input = true;
        std::size_t cursor = 0;
        // Blocks of half a warp's elements, side by side: their bytes' hash, and where they begin. Any piece of a
        // warp's elements holds one.
        std::vector<std::pair<std::uint64_t, std::uint32_t>> blocks;
    };
    struct Piece {
        Source* source = nullptr;
        std::size_t at = 0, bytes = 0;
        bool goes_on = false;
    };
    // The usual case, for which no pairs are needed: all of it is what comes next in a source, or its beginning.
    bool is_one_piece(Bytes mine, Bytes other);
    void add(Bytes mine, Bytes other, unsigned element_bytes, bool is_input);
    [[nodiscard]] Piece find(Bytes rest);
    static void consider(Piece& best, Source& source, std::size_t at, Bytes rest, bool goes_on);
    static void find_anywhere(Piece& best, Source& source, Bytes rest);
    void charge(Bytes rest, std::size_t bytes);

    std::deque<Source> sources_;
    std::size_t unit_ = 16;  // bytes of the smallest element, in pairs
    Source* last_ = nullptr;
    std::uint64_t cost_ = 0;
    std::vector<std::byte> first_;
    bool is_arranged_ = false, used_came_ = false;
};

}  // namespace warpgrade::device
