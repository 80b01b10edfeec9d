#include "device/origin_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "device/origin_cover.hpp"

namespace warpgrade::device {
namespace {

using Problem = OriginVerdict::Problem;

constexpr std::uint64_t small_allowance = 256;  // bytes that may always go up
constexpr std::uint64_t allowance_share = 16;   // or this part of the outputs
constexpr std::size_t run_elements = 32;        // a warp's
constexpr std::size_t small_output = 1024;      // bytes; such a result could be sent up as it is
constexpr std::size_t small_piece = 128;        // bytes; a returned value may stand anywhere in such a copy
constexpr std::size_t max_small_pieces = 32;    // copies of less than a run, for one output
constexpr std::size_t most_starts = 16;         // of a layout in rows that are tried

// A part of an output, and where it came down.
struct Segment {
    std::size_t at = 0, bytes = 0;
    std::size_t piece = 0, from = 0;
};

bool is_fill(Bytes bytes, unsigned element) {
    return bytes.size() <= element || common_prefix(bytes, bytes.subspan(element)) == bytes.size() - element;
}

// Looks for one output in what came down.
class Tracer {
  public:
    Tracer(const OriginBuffer& output, const OriginLog& log, std::span<const std::size_t> rows)
        : out_(output.after), before_(output.before), element_(output.element_bytes), log_(log), rows_(rows) {}

    // False: verdict says why.
    bool trace(OriginVerdict& verdict) {
        if (find_whole() || find_rows()) return true;
        return find_runs(verdict);
    }
    [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

  private:
    [[nodiscard]] const OriginLog::Down& piece(std::size_t i) const { return log_.down()[i]; }
    [[nodiscard]] std::size_t count() const { return log_.down().size(); }

    // The last copy is the most likely.
    bool find_whole() {
        for (std::size_t i = count(); i-- > 0;) {
            const std::size_t at = find_bytes(piece(i).bytes, out_, 0, element_);
            if (at == npos) continue;
            segments_.push_back({0, out_.size(), i, at});
            return true;
        }
        return false;
    }

    // Rows of a padded array.
    bool find_rows() {
        for (const std::size_t row : rows_) {
            const std::size_t width = row * element_;
            if (width >= out_.size() || out_.size() % width != 0) continue;
            for (std::size_t i = count(); i-- > 0;)
                if (find_rows_in(i, width)) return true;
        }
        return false;
    }
    bool find_rows_in(std::size_t i, std::size_t width) {
        const Bytes data = piece(i).bytes;
        const std::size_t height = out_.size() / width;
        std::size_t start = find_bytes(data, out_.first(width), 0, element_);
        for (std::size_t tried = 0; start != npos && tried < most_starts; ++tried) {
            // Every pitch that leaves room for the last row: most are refuted by the second one.
            for (std::size_t pitch = width; start + (height - 1) * pitch + width <= data.size(); pitch += element_) {
                if (!is_pitch(data, start, pitch, width, height)) continue;
                for (std::size_t y = 0; y < height; ++y) segments_.push_back({y * width, width, i, start + y * pitch});
                return true;
            }
            start = find_bytes(data, out_.first(width), start + element_, element_);
        }
        return false;
    }
    [[nodiscard]] bool is_pitch(Bytes data, std::size_t start, std::size_t pitch, std::size_t width,
                                std::size_t height) const {
        for (std::size_t y = 1; y < height; ++y)
            if (std::memcmp(out_.data() + y * width, data.data() + start + y * pitch, width) != 0) return false;
        return true;
    }

    // Copies of parts, in whatever order: runs of a warp's elements or more, except where a copy ends.
    bool find_runs(OriginVerdict& verdict) {
        cursors_.assign(count(), 0);
        std::size_t current = npos;
        for (std::size_t at = 0; at < out_.size();) {
            std::size_t run = 0;
            if (current != npos) run = run_at(at, current, cursors_[current]);
            if (run == 0) {
                if (const std::size_t same = unwritten(at)) {
                    at += same;
                    continue;
                }
                current = next_piece(at, current);
                if (current == npos) {
                    explain(at, verdict);
                    return false;
                }
                run = run_at(at, current, cursors_[current]);
            }
            segments_.push_back({at, run, current, cursors_[current]});
            cursors_[current] += run;
            at += run;
        }
        return true;
    }
    [[nodiscard]] std::size_t run_at(std::size_t at, std::size_t i, std::size_t from) const {
        if (from >= piece(i).bytes.size()) return 0;
        const std::size_t run = common_prefix(out_.subspan(at), Bytes(piece(i).bytes).subspan(from));
        return run - run % element_;
    }
    // Bytes from here on that are as they were before the call.
    [[nodiscard]] std::size_t unwritten(std::size_t at) const {
        if (at >= before_.size()) return 0;
        const std::size_t run = common_prefix(out_.subspan(at), before_.subspan(at));
        return run - run % element_;
    }
    // The copy whose next bytes are those of the output from here on; its cursor stands there. Only forwards.
    std::size_t next_piece(std::size_t at, std::size_t last) {
        for (std::size_t i = last == npos ? 0 : last + 1; i < count(); ++i)
            if (begins_with(at, i, last)) return i;
        for (std::size_t i = count(); i-- > 0;)
            if (begins_with(at, i, last)) return i;
        return npos;
    }
    bool begins_with(std::size_t at, std::size_t i, std::size_t last) {
        const Bytes data = piece(i).bytes;
        const std::size_t wanted = std::min(run_elements * element_, out_.size() - at);
        std::size_t place = find_bytes(data, out_.subspan(at, wanted), cursors_[i], element_);
        // The rest of a copy, or one that is smaller: all of it, or up to where the output was not written.
        if (place == npos && cursors_[i] == 0) {
            const std::size_t run = run_at(at, i, 0);
            const bool all = run != 0 && run == data.size() - data.size() % element_;
            // Copies of a few elements could put the result together; side by side on the device, they do not.
            const bool goes_on = last != npos && piece(last).address + piece(last).bytes.size() == piece(i).address;
            const bool enough = all && (run >= run_elements * element_ || goes_on || is_next_row(at, i, last) ||
                                        ++small_ <= max_small_pieces);
            if (enough || (run != 0 && unwritten(at + run) != 0)) place = 0;
        }
        if (place == npos) return false;
        cursors_[i] = place;
        return true;
    }

    // A row of the function's own, copied by itself, and as far from the one before as that was from its predecessor:
    // a loop over the rows of a padded array.
    bool is_next_row(std::size_t at, std::size_t i, std::size_t last) {
        const std::size_t bytes = piece(i).bytes.size();
        if (last == npos || at % bytes != 0 || std::ranges::find(rows_, bytes / element_) == rows_.end()) return false;
        const auto pitch = static_cast<std::int64_t>(piece(i).address - piece(last).address);
        if (pitch <= 0 || (pitch_ != 0 && pitch != pitch_)) return false;
        pitch_ = pitch;
        return true;
    }

    void explain(std::size_t at, OriginVerdict& verdict) const {
        verdict.element = at / element_;
        if (count() == 0) {
            verdict.problem = Problem::nothing_came;
            return;
        }
        // In its place: the first element that differs from a copy that is as large and agrees in most elements.
        for (std::size_t i = count(); i-- > 0;) {
            const Bytes data = piece(i).bytes;
            if (data.size() < out_.size()) continue;
            std::size_t same = 0, other = 0, first = npos;
            for (std::size_t e = 0; e < out_.size(); e += element_) {
                const bool agrees = std::memcmp(data.data() + e, out_.data() + e, element_) == 0;
                ++(agrees ? same : other);
                if (!agrees && first == npos) first = e;
            }
            if (first == npos || (same < other && out_.size() > 4 * std::size_t{element_})) continue;
            verdict.problem = Problem::changed;
            verdict.element = first / element_;
            verdict.came.assign(data.begin() + static_cast<std::ptrdiff_t>(first),
                                data.begin() + static_cast<std::ptrdiff_t>(first + element_));
            return;
        }
        // Where what began together parts.
        at += agreeing(at);
        verdict.element = at / element_;
        // Somewhere else, and its neighbours as well: a few values agree by chance.
        std::size_t found = 0, looked = 0, first = npos;
        for (std::size_t e = at; e < out_.size() && looked < run_elements; e += element_, ++looked) {
            for (std::size_t i = count(); i-- > 0;) {
                const std::size_t place = find_bytes(piece(i).bytes, out_.subspan(e, element_), 0, element_);
                if (place == npos) continue;
                if (looked == 0) first = place / element_;
                ++found;
                break;
            }
        }
        verdict.problem = first != npos && found == looked ? Problem::moved : Problem::not_found;
        verdict.elsewhere = first;
    }

    // Bytes from here on that came down together, though too few of them; less than all that are left.
    [[nodiscard]] std::size_t agreeing(std::size_t at) const {
        std::size_t longest = 0;
        for (std::size_t i = count(); i-- > 0;) {
            std::size_t place = at < piece(i).bytes.size() && run_at(at, i, at) != 0
                                    ? at
                                    : find_bytes(piece(i).bytes, out_.subspan(at, element_), 0, element_);
            if (place != npos) longest = std::max(longest, run_at(at, i, place));
        }
        return at + longest < out_.size() ? longest : 0;
    }

    Bytes out_, before_;
    unsigned element_;
    const OriginLog& log_;
    std::span<const std::size_t> rows_;
    std::vector<Segment> segments_;
    std::vector<std::size_t> cursors_;
    std::size_t small_ = 0;
    std::int64_t pitch_ = 0;  // of rows that were copied one by one
};

// --- a returned value
// -------------------------------------------------------------------------------------------------

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// Is this the returned value, as any of the types that the device may have had it in?
bool is_value(const OriginQuery::Result& result, Bytes at) {
    const auto same = [&](auto value) {
        if (result.type == OriginQuery::Result::Type::floating) {
            if (result.bytes == 4) {
                const auto got = load<float>(reinterpret_cast<const std::byte*>(&result.bits));
                const auto there = static_cast<float>(value);
                return std::memcmp(&got, &there, 4) == 0 || (std::isnan(got) && std::isnan(there));
            }
            const auto got = load<double>(reinterpret_cast<const std::byte*>(&result.bits));
            const auto there = static_cast<double>(value);
            return std::memcmp(&got, &there, 8) == 0 || (std::isnan(got) && std::isnan(there));
        }
        if constexpr (std::is_floating_point_v<decltype(value)>) {
            if (!(std::abs(value) < 9e18)) return false;
        }
        const auto there = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        const std::uint64_t mask = result.bytes >= 8 ? ~0ULL : (1ULL << (8 * result.bytes)) - 1;
        return ((there ^ result.bits) & mask) == 0;
    };
    const bool floating = result.type == OriginQuery::Result::Type::floating;
    if (at.size() >= 4 &&
        (same(load<float>(at.data())) || same(load<std::int32_t>(at.data())) || same(load<std::uint32_t>(at.data()))))
        return true;
    if (at.size() >= 8 && (same(load<double>(at.data())) || same(load<std::int64_t>(at.data())))) return true;
    return !floating && ((at.size() >= 1 && same(load<std::int8_t>(at.data()))) ||
                         (at.size() >= 1 && same(load<std::uint8_t>(at.data()))) ||
                         (at.size() >= 2 && same(load<std::int16_t>(at.data()))) ||
                         (at.size() >= 2 && same(load<std::uint16_t>(at.data()))));
}

// Where it came down; of a large copy its first and its last element alone, since any value may stand in an array.
std::optional<Segment> find_value(const OriginQuery::Result& result, const OriginLog& log) {
    for (std::size_t i = log.down().size(); i-- > 0;) {
        const Bytes data = log.down()[i].bytes;
        const std::size_t step = std::min(result.bytes, 4u);
        for (std::size_t at = 0; at < data.size(); at += step) {
            if (data.size() > small_piece && at >= 8 && at + 8 < data.size()) at = (data.size() - 8) / step * step;
            if (is_value(result, data.subspan(at)))
                return Segment{0, std::min<std::size_t>(4, data.size() - at), i, at};
        }
    }
    return std::nullopt;
}

// --- who wrote it
// -----------------------------------------------------------------------------------------------------

class Judgement {
  public:
    Judgement(const OriginQuery& query, const OriginLog& log) : query_(query), log_(log) {}

    OriginVerdict pronounce() {
        for (const OriginScalar& scalar : query_.scalars)
            if (scalar.whole && scalar.bits >= 1 && scalar.bits < (std::uint64_t{1} << 31))
                rows_.push_back(scalar.bits);
        std::ranges::sort(rows_);
        for (const OriginBuffer& buffer : query_.buffers)
            if (buffer.kind != OriginBuffer::Kind::in && !check_output(buffer)) return verdict_;
        if (query_.result && !check_result(*query_.result)) return verdict_;
        if (outputs_ != 0 && !check_up()) return verdict_;
        if (traced_ && !final_.empty()) find_contributors();
        return verdict_;
    }

  private:
    bool check_output(const OriginBuffer& buffer) {
        if (buffer.after.empty()) return true;
        outputs_ += buffer.after.size();
        const bool untouched = std::ranges::equal(buffer.after, buffer.before);
        Tracer tracer(buffer, log_, rows_);
        verdict_.argument = static_cast<int>(buffer.argument);
        if (!tracer.trace(verdict_)) {
            // What the function left alone, and what holds one value all over, needs no device.
            traced_ = false;
            if (untouched || is_fill(buffer.after, buffer.element_bytes)) return verdict_.problem = Problem::none, true;
            if (log_.overflown()) verdict_.problem = Problem::overflow;
            return false;
        }
        return check_writers(buffer, tracer.segments());
    }

    // A run in which no element comes from a kernel must be what nobody wrote, one value, or as it was.
    bool check_writers(const OriginBuffer& buffer, std::span<const Segment> segments) {
        const std::size_t step = run_elements * buffer.element_bytes;
        for (const Segment& segment : segments) {
            const OriginLog::Down& piece = log_.down()[segment.piece];
            for (std::size_t at = 0; at < segment.bytes; at += step) {
                const std::size_t bytes = std::min(step, segment.bytes - at);
                bool by_kernel = false, by_host = false, scattered = false;
                for (std::size_t word = (segment.from + at) / 4; word <= (segment.from + at + bytes - 1) / 4; ++word) {
                    const WriterTag who = word < piece.writers.size() ? piece.writers[word] : writer::nobody;
                    if (writer::is_launch(who)) by_kernel = true, final_.insert(who);
                    by_host |= who == writer::host;
                    scattered |= who == writer::scattered;
                }
                scattered |= is_gathered(piece, buffer);
                if (scattered) {
                    verdict_.problem = Problem::scattered;
                } else if (by_host && !by_kernel) {
                    const std::size_t place = segment.at + at;
                    const Bytes now = buffer.after.subspan(place, bytes);
                    const bool as_before = place + bytes <= buffer.before.size() &&
                                           std::ranges::equal(now, buffer.before.subspan(place, bytes));
                    if (as_before || is_fill(now, buffer.element_bytes)) continue;
                    verdict_.problem = Problem::host_wrote;
                } else {
                    continue;
                }
                verdict_.element = (segment.at + at) / buffer.element_bytes;
                verdict_.mapped = piece.mapped;
                return false;
            }
        }
        return true;
    }

    // Did the copy itself arrange the elements? Rows of the function's own may be short.
    [[nodiscard]] bool is_gathered(const OriginLog::Down& piece, const OriginBuffer& buffer) const {
        if (piece.row_bytes == 0 || piece.row_bytes >= OriginLog::small_copy_bytes) return false;
        if (piece.bytes.size() >= buffer.after.size()) return false;
        return std::ranges::find(rows_, piece.row_bytes / buffer.element_bytes) == rows_.end();
    }

    bool check_result(const OriginQuery::Result& result) {
        const std::uint64_t mask = result.bytes >= 8 ? ~0ULL : (1ULL << (8 * result.bytes)) - 1;
        outputs_ += result.bytes;
        verdict_.argument = -1;
        const auto found = find_value(result, log_);
        if (!found) {
            traced_ = false;
            if ((result.bits & mask) == 0) return true;  // as of no elements
            verdict_.problem = log_.overflown()      ? Problem::overflow
                               : log_.down().empty() ? Problem::nothing_came
                                                     : Problem::not_found;
            return false;
        }
        const OriginLog::Down& piece = log_.down()[found->piece];
        const WriterTag who = found->from / 4 < piece.writers.size() ? piece.writers[found->from / 4] : writer::nobody;
        if (writer::is_launch(who)) final_.insert(who);
        if ((result.bits & mask) != 0 && (who == writer::host || who == writer::scattered)) {
            verdict_.problem = who == writer::host ? Problem::host_wrote : Problem::scattered;
            verdict_.mapped = piece.mapped;
            return false;
        }
        return true;
    }

    bool check_up() {
        verdict_.argument = -1;
        std::uint64_t code = 0;
        for (const auto& image : log_.images())
            if (find_bytes(query_.program, image, 0, 1) == npos) code += image.size();
        if (code != 0 && !query_.program.empty()) {
            verdict_.problem = Problem::code_went_up;
            verdict_.bytes = code;
            return false;
        }
        if (log_.overflown()) {
            verdict_.problem = Problem::overflow;
            return false;
        }
        UpCover cover;
        std::vector<std::byte> scalars;
        for (const OriginBuffer& buffer : query_.buffers) cover.add_source(buffer.before, buffer.element_bytes);
        for (const OriginScalar& scalar : query_.scalars) {
            const auto* bits = reinterpret_cast<const std::byte*>(&scalar.bits);
            cover.add_source({bits, scalar.bytes}, scalar.bytes);
        }
        auto came = log_.down().begin();
        std::uint64_t sent = 0;
        const OriginLog::Up* first = nullptr;
        for (const auto& piece : log_.up()) {
            if (log_.is_overwritten(piece)) continue;
            // What had come down before may go up again.
            for (; came != log_.down().end() && came->number < piece.number; ++came) cover.add_came(came->bytes);
            const bool clean = cover.first_unexplained().empty();
            cover.explain(piece.bytes);
            if (clean && !cover.first_unexplained().empty()) first = &piece;
            sent += piece.bytes.size();
        }
        const std::uint64_t allowance = std::max(small_allowance, outputs_ / allowance_share) + query_.allowance_bytes;
        const std::uint64_t cost = cover.cost() + parameters() + log_.fill_count();
        if (cost > allowance) {
            verdict_.problem = Problem::went_up;
            verdict_.bytes = cost, verdict_.of_bytes = sent;
            verdict_.came = cover.first_unexplained();
            verdict_.mapped = first != nullptr && first->mapped;
            return false;
        }
        return outputs_ > small_output || check_small(cover.unexplained_words());
    }

    // What launches tell kernels, but for the function's own scalars.
    [[nodiscard]] std::uint64_t parameters() {
        std::uint64_t bytes = 0;
        for (const std::uint32_t word : log_.words())
            if (word > 1 && !is_scalar(word)) bytes += 4;
        return bytes;
    }
    [[nodiscard]] bool is_scalar(std::uint32_t word) const {
        return std::ranges::any_of(query_.scalars, [&](const OriginScalar& scalar) {
            return static_cast<std::uint32_t>(scalar.bits) == word ||
                   static_cast<std::uint32_t>(scalar.bits >> 32) == word;
        });
    }

    // A result of a few bytes must not have gone up itself. Small whole numbers are sizes as well.
    bool check_small(std::span<const std::uint32_t> unexplained) {
        std::set<std::uint32_t> sent(unexplained.begin(), unexplained.end());
        for (const std::uint32_t word : log_.words())
            if (!is_scalar(word)) sent.insert(word);
        const auto went_up = [&](std::uint32_t word) {
            constexpr std::uint32_t largest_size = 1u << 20;
            const bool plain = word < largest_size || ~word < largest_size || (word & 0x7fffff) == 0;
            return !plain && sent.contains(word);
        };
        const auto check = [&](Bytes bytes, unsigned element, int argument) {
            for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4)
                if (went_up(load<std::uint32_t>(bytes.data() + at))) {
                    verdict_.problem = Problem::result_went_up;
                    verdict_.argument = argument;
                    verdict_.element = at / std::max(element, 1u);
                    return false;
                }
            return true;
        };
        for (const OriginBuffer& buffer : query_.buffers)
            if (buffer.kind != OriginBuffer::Kind::in &&
                !check(buffer.after, buffer.element_bytes, static_cast<int>(buffer.argument)))
                return false;
        if (!query_.result) return true;
        return check({reinterpret_cast<const std::byte*>(&query_.result->bits), query_.result->bytes}, 8, -1);
    }

    // Backwards from the launches that wrote the outputs, by the allocations that each has read.
    void find_contributors() {
        std::set<DevicePtr> needed;
        std::set<std::size_t> part;
        const auto& steps = log_.steps();
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
    }

    const OriginQuery& query_;
    const OriginLog& log_;
    OriginVerdict verdict_;
    std::vector<std::size_t> rows_;
    std::set<WriterTag> final_;  // launches that wrote the outputs
    std::uint64_t outputs_ = 0;  // bytes
    bool traced_ = true;
};

}  // namespace

OriginVerdict check_origin(const OriginQuery& query, const OriginLog& log) { return Judgement(query, log).pronounce(); }

}  // namespace warpgrade::device
