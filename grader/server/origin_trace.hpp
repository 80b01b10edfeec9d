// Looking for a call's outputs in what came down from the device (origin_check.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/origin_check.hpp"
#include "server/origin_cover.hpp"

namespace warpgrade::device {

inline constexpr std::size_t run_elements = 32;  // a warp's

// A part of an output, and where it came down.
struct Segment {
    std::size_t at = 0, bytes = 0;
    std::size_t piece = 0, from = 0;
};

// Looks for one output. `rows`: lengths in elements that a row may have, sorted.
class Tracer {
  public:
    Tracer(const OriginBuffer& output, const OriginLog& log, std::span<const std::size_t> rows)
        : out_(output.after), before_(output.before), element_(output.element_bytes), log_(log), rows_(rows) {}

    // False: verdict says why.
    bool trace(OriginVerdict& verdict);
    [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

  private:
    [[nodiscard]] const OriginLog::Down& piece(std::size_t i) const { return log_.down()[i]; }
    [[nodiscard]] std::size_t count() const { return log_.down().size(); }
    // The last copy is the most likely.
    bool find_whole();
    // Rows of a padded array.
    bool find_rows();
    bool find_rows_in(std::size_t i, std::size_t width);
    [[nodiscard]] bool is_pitch(Bytes data, std::size_t start, std::size_t pitch, std::size_t width,
                                std::size_t height) const;
    // Copies of parts, in whatever order: runs of a warp's elements or more, except where a copy ends.
    bool find_runs(OriginVerdict& verdict);
    [[nodiscard]] std::size_t run_at(std::size_t at, std::size_t i, std::size_t from) const;
    // Bytes from here on that are as they were before the call.
    [[nodiscard]] std::size_t unwritten(std::size_t at) const;
    // The copy whose next bytes are those of the output from here on; its cursor stands there. Only forwards.
    std::size_t next_piece(std::size_t at, std::size_t last);
    bool begins_with(std::size_t at, std::size_t i, std::size_t last);
    // A row of the function's own, copied by itself, and as far from the one before as that was from its predecessor:
    // a loop over the rows of a padded array.
    bool is_next_row(std::size_t at, std::size_t i, std::size_t last);
    void explain(std::size_t at, OriginVerdict& verdict) const;
    // Bytes from here on that came down together, though too few of them; less than all that are left.
    [[nodiscard]] std::size_t agreeing(std::size_t at) const;

    Bytes out_, before_;
    unsigned element_;
    const OriginLog& log_;
    std::span<const std::size_t> rows_;
    std::vector<Segment> segments_;
    std::vector<std::size_t> cursors_;
    std::size_t small_ = 0;
    std::int64_t pitch_ = 0;  // of rows that were copied one by one
};

// Where a returned value came down; of a large copy its first and its last element alone, since any value may stand in
// an array.
std::optional<Segment> find_value(const OriginQuery::Result& result, const OriginLog& log);

}  // namespace warpgrade::device
