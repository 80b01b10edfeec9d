#include "server/origin_check.hpp"

#include <algorithm>
#include <set>

#include "server/origin_cover.hpp"
#include "server/origin_trace.hpp"
#include "server/origin_uploads.hpp"

namespace warpgrade::server {
namespace {

using Problem = OriginVerdict::Problem;

bool is_fill(Bytes bytes, unsigned element) {
    return bytes.size() <= element || common_prefix(bytes, bytes.subspan(element)) == bytes.size() - element;
}

class OriginCheck {
  public:
    OriginCheck(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run)
        : query_(query), log_(log), other_run_(other_run) {}

    OriginVerdict run() {
        for (const OriginScalar& scalar : query_.scalars)
            if (scalar.whole && scalar.bits >= 1 && scalar.bits < (std::uint64_t{1} << 31))
                rows_.push_back(scalar.bits);
        std::ranges::sort(rows_);
        for (const OriginBuffer& buffer : query_.buffers)
            if (buffer.kind != OriginBuffer::Kind::in && !check_output(buffer)) return verdict_;
        if (query_.result && !check_result(*query_.result)) return verdict_;
        if (output_bytes_ != 0 && !check_uploads(query_, log_, other_run_, verdict_)) {
            verdict_.compared &= verdict_.problem != Problem::overflow;
            return verdict_;
        }
        verdict_.compared = false;
        if (traced_ && !final_.empty() && !find_contributors()) {
            verdict_.problem = Problem::rearranged;
            return verdict_;
        }
        if (other_run_ && has_choice()) compare_places();
        return verdict_;
    }

  private:
    // True if more came down than the outputs hold, so that host code can choose.
    [[nodiscard]] bool has_choice() const {
        std::uint64_t came = 0;
        for (const OriginLog::Download& piece : log_.downloads()) came += piece.bytes.size();
        return output_bytes_ != 0 && came > output_bytes_;
    }

    // What is chosen by size is at the same place with other inputs. What kernels wrote is needed to tell.
    void compare_places() {
        verdict_.needs_kernels = !other_run_->ran_kernels();
        if (!verdict_.needs_kernels && come_from_same_places(query_, log_, *other_run_, rows_, verdict_)) return;
        verdict_.problem = Problem::picked;
        verdict_.compared = true;
        verdict_.changes = OriginVerdict::max_changes + 1;
    }

    bool check_output(const OriginBuffer& buffer) {
        if (buffer.after.empty()) return true;
        output_bytes_ += buffer.after.size();
        Tracer tracer(buffer, log_, rows_);
        verdict_.argument = static_cast<int>(buffer.argument);
        if (!tracer.trace(verdict_)) {
            // An output that is unchanged or holds one value everywhere needs no device.
            traced_ = false;
            const bool untouched = std::ranges::equal(buffer.after, buffer.before);
            if (untouched || is_fill(buffer.after, buffer.element_bytes)) return verdict_.problem = Problem::none, true;
            if (log_.overflowed()) verdict_.problem = Problem::overflow;
            return false;
        }
        return check_writers(buffer, tracer.segments());
    }

    // An element that the host uploaded must be as before the call, or one of many equal ones, as after clearing the
    // array. Elements are checked one by one, since single values may be right by chance.
    bool check_writers(const OriginBuffer& buffer, std::span<const Segment> segments) {
        const std::size_t step = buffer.element_bytes;
        std::optional<Bytes> fill;
        for (const Segment& segment : segments) {
            const OriginLog::Download& piece = log_.downloads()[segment.piece];
            bool scattered = is_gathered(piece, buffer);
            for (std::size_t at = 0; at < segment.bytes; at += step) {
                const std::size_t bytes = std::min(step, segment.bytes - at);
                bool by_host = false;
                for (std::size_t word = (segment.from + at) / 4; word <= (segment.from + at + bytes - 1) / 4; ++word) {
                    const WriterTag who = word < piece.writers.size() ? piece.writers[word] : writer::nobody;
                    if (writer::is_launch(who) && who != last_final_) final_.insert(last_final_ = who);
                    by_host |= who == writer::host;
                    scattered |= who == writer::scattered;
                }
                if (!scattered && !by_host) continue;
                if (scattered) {
                    verdict_.problem = Problem::scattered;
                } else {
                    const std::size_t place = segment.at + at;
                    const Bytes now = buffer.after.subspan(place, bytes);
                    if (place + bytes <= buffer.before.size() &&
                        std::ranges::equal(now, buffer.before.subspan(place, bytes)))
                        continue;
                    if (!fill) fill = now;
                    if (std::ranges::equal(now, *fill)) continue;
                    verdict_.problem = Problem::written_by_host;
                }
                verdict_.element = (segment.at + at) / buffer.element_bytes;
                verdict_.mapped = piece.mapped;
                return false;
            }
        }
        return true;
    }

    // True if a copy of short rows arranged the elements, unless the rows are as long as a scalar argument says.
    [[nodiscard]] bool is_gathered(const OriginLog::Download& piece, const OriginBuffer& buffer) const {
        if (piece.row_bytes == 0 || piece.row_bytes >= OriginLog::small_copy_bytes) return false;
        if (piece.bytes.size() >= buffer.after.size()) return false;
        return std::ranges::find(rows_, piece.row_bytes / buffer.element_bytes) == rows_.end();
    }

    bool check_result(const OriginQuery::Result& result) {
        const std::uint64_t mask = result.bytes >= 8 ? ~0ULL : (1ULL << (8 * result.bytes)) - 1;
        output_bytes_ += result.bytes;
        verdict_.argument = -1;
        const auto found = find_value(result, log_);
        if (!found) {
            traced_ = false;
            if ((result.bits & mask) == 0) return true;  // the result for no elements
            verdict_.problem = log_.overflowed()          ? Problem::overflow
                               : log_.downloads().empty() ? Problem::no_download
                                                          : Problem::not_found;
            return false;
        }
        const OriginLog::Download& piece = log_.downloads()[found->piece];
        const WriterTag who = found->from / 4 < piece.writers.size() ? piece.writers[found->from / 4] : writer::nobody;
        if (writer::is_launch(who)) final_.insert(who);
        if ((result.bits & mask) != 0 && (who == writer::host || who == writer::scattered)) {
            verdict_.problem = who == writer::host ? Problem::written_by_host : Problem::scattered;
            verdict_.mapped = piece.mapped;
            return false;
        }
        return true;
    }

    // Finds the launches that the outputs depend on: backwards from those that wrote the outputs, by the allocations
    // that each one read. Returns false if small copies assembled one of these allocations.
    bool find_contributors() {
        std::set<DevicePtr> needed;
        std::set<std::size_t> part;
        const auto steps = steps_and_round_trips();
        for (std::size_t i = steps.size(); i-- > 0;) {
            const OriginLog::Step& step = steps[i];
            const bool writes_it =
                std::ranges::any_of(step.written_to, [&](DevicePtr base) { return needed.contains(base); });
            if (!writes_it && !(step.launch != 0 && final_.contains(static_cast<WriterTag>(step.launch)))) continue;
            if (step.launch != 0) part.insert(step.launch);
            needed.insert(step.read_from.begin(), step.read_from.end());
        }
        for (const OriginLog::Step& step : steps)
            if (step.launch != 0 && !part.contains(step.launch)) verdict_.not_part.push_back(step.launch);
        return std::ranges::none_of(needed, [&](DevicePtr base) { return is_assembled(base); });
    }

    // All steps, and a step for each upload that is no input, since it may be an earlier download.
    [[nodiscard]] std::vector<OriginLog::Step> steps_and_round_trips() const {
        auto steps = log_.steps();
        std::vector<std::size_t> cursors(query_.buffers.size());
        for (const OriginLog::Upload& up : log_.uploads()) {
            OriginLog::Step trip{0, {}, {up.base}, up.number};
            for (const OriginLog::Download& down : log_.downloads()) {
                if (down.number > up.number) continue;
                if (down.mapped)
                    trip.read_from.insert(trip.read_from.end(), down.mapped_bases.begin(), down.mapped_bases.end());
                else
                    trip.read_from.push_back(down.base);
            }
            if (!trip.read_from.empty() && !is_input(up.bytes, cursors)) steps.push_back(std::move(trip));
        }
        std::ranges::stable_sort(steps, {}, &OriginLog::Step::number);
        return steps;
    }

    // True if the bytes are the next or the first piece of an input.
    [[nodiscard]] bool is_input(Bytes bytes, std::vector<std::size_t>& cursors) const {
        for (std::size_t i = 0; i < cursors.size(); ++i)
            for (const std::size_t at : {cursors[i], std::size_t{0}}) {
                const Bytes rest = query_.buffers[i].before.subspan(at);
                if (rest.size() < bytes.size() || common_prefix(rest, bytes) < bytes.size()) continue;
                cursors[i] = at + bytes.size();
                return true;
            }
        return false;
    }

    // True if small copies assembled the allocation, other than rows as long as a scalar argument says.
    [[nodiscard]] bool is_assembled(DevicePtr base) const {
        const auto* widths = log_.scattered_rows(base);
        if (!widths) return false;
        return std::ranges::any_of(*widths, [&](std::uint64_t width) {
            return std::ranges::none_of(query_.buffers, [&](const OriginBuffer& buffer) {
                return width > buffer.element_bytes && width % buffer.element_bytes == 0 &&
                       std::ranges::find(rows_, width / buffer.element_bytes) != rows_.end();
            });
        });
    }

    const OriginQuery& query_;
    const OriginLog& log_;
    const OriginLog* other_run_;
    OriginVerdict verdict_;
    std::vector<std::size_t> rows_;
    std::set<WriterTag> final_;  // launches that wrote the outputs
    WriterTag last_final_ = writer::nobody;
    std::uint64_t output_bytes_ = 0;
    bool traced_ = true;
};

}  // namespace

OriginVerdict check_origin(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run) {
    return OriginCheck(query, log, other_run).run();
}

}  // namespace warpgrade::server
