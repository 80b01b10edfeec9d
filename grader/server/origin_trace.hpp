// Finds a call's outputs in its downloads (origin_check.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/origin_check.hpp"
#include "server/origin_cover.hpp"

namespace warpgrade::server {

inline constexpr std::size_t run_elements = 32;  // a warp's

// A part of an output, and its place in a download.
struct Segment {
    std::size_t at = 0, bytes = 0;
    std::size_t piece = 0, from = 0;
};

// Finds one output. `rows` are the possible lengths of a row in elements, sorted.
class Tracer {
  public:
    Tracer(const OriginBuffer& output, const OriginLog& log, std::span<const std::size_t> rows)
        : Tracer(output, log.downloads(), rows, 1) {}
    // In `pieces`, the downloads of as many runs, whose bytes alternate.
    Tracer(const OriginBuffer& output, const std::deque<OriginLog::Download>& pieces, std::span<const std::size_t> rows,
           unsigned runs)
        : out_(output.after),
          before_(output.before),
          element_(output.element_bytes),
          pieces_(pieces),
          rows_(rows),
          runs_(runs) {}

    // Returns false with the reason in `verdict`.
    bool trace(OriginVerdict& verdict);
    [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

  private:
    [[nodiscard]] const OriginLog::Download& piece(std::size_t i) const { return pieces_[i]; }
    [[nodiscard]] std::size_t count() const { return pieces_.size(); }
    // Starts with the last download, which is the most likely one.
    bool find_whole();
    // Finds the rows of a padded array.
    bool find_rows();
    bool find_rows_in(std::size_t i, std::size_t width);
    [[nodiscard]] bool is_pitch(Bytes data, std::size_t start, std::size_t pitch, std::size_t width,
                                std::size_t height) const;
    // Finds runs of a warp's elements or more, or shorter ones at the end of a download, in any order of downloads.
    bool find_runs(OriginVerdict& verdict);
    [[nodiscard]] std::size_t run_at(std::size_t at, std::size_t i, std::size_t from) const;
    // The number of bytes from here on that no one wrote in this call.
    [[nodiscard]] std::size_t unwritten(std::size_t at) const;
    // The download that continues the output from here on; moves its cursor forward to that place.
    std::size_t next_piece(std::size_t at, std::size_t last);
    bool begins_with(std::size_t at, std::size_t i, std::size_t last);
    // True in a loop that copies the rows of a padded array one by one: the download is a row, at the same distance as
    // the rows before.
    bool is_next_row(std::size_t at, std::size_t i, std::size_t last);
    void explain(std::size_t at, OriginVerdict& verdict) const;
    // The longest run from here on in any download, however short; 0 if it reaches the end.
    [[nodiscard]] std::size_t longest_run(std::size_t at) const;

    Bytes out_, before_;
    unsigned element_;
    const std::deque<OriginLog::Download>& pieces_;
    std::span<const std::size_t> rows_;
    unsigned runs_ = 1;
    std::vector<Segment> segments_;
    std::vector<std::size_t> cursors_;
    std::size_t small_ = 0;
    std::int64_t pitch_ = 0;  // of rows that were copied one by one
};

// Finds a returned value in the downloads. In a large one only the first and the last element count, since an array may
// contain any value.
std::optional<Segment> find_value(const OriginQuery::Result& result, const OriginLog& log);

// Whether all outputs, and the returned value, can come from the same places of the downloads in both runs, which have
// the same downloads. Otherwise `verdict` says which does not.
bool come_from_same_places(const OriginQuery& query, const OriginLog& mine, const OriginLog& other,
                           std::span<const std::size_t> rows, OriginVerdict& verdict);

}  // namespace warpgrade::server
