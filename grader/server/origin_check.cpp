#include "server/origin_check.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "server/origin_cover.hpp"
#include "server/origin_trace.hpp"

namespace warpgrade::device {
namespace {

using Problem = OriginVerdict::Problem;

constexpr std::uint64_t small_allowance = 256;  // bytes that may always go up
constexpr std::uint64_t allowance_share = 16;   // or this part of the outputs
constexpr std::uint64_t fill_cost = 4;          // as telling where and what
constexpr std::size_t small_output = 1024;      // bytes; such a result could be sent up as it is

bool is_fill(Bytes bytes, unsigned element) {
    return bytes.size() <= element || common_prefix(bytes, bytes.subspan(element)) == bytes.size() - element;
}

bool holds(const OriginQuery& query, Bytes image) {
    return std::ranges::any_of(query.program_images, [&](std::uint64_t at) {
        return at <= query.program.size() && image.size() <= query.program.size() - at &&
               std::memcmp(query.program.data() + at, image.data(), image.size()) == 0;
    });
}

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
        Tracer tracer(buffer, log_, rows_);
        verdict_.argument = static_cast<int>(buffer.argument);
        if (!tracer.trace(verdict_)) {
            // What the function left alone, and what holds one value all over, needs no device.
            traced_ = false;
            const bool untouched = std::ranges::equal(buffer.after, buffer.before);
            if (untouched || is_fill(buffer.after, buffer.element_bytes)) return verdict_.problem = Problem::none, true;
            if (log_.overflown()) verdict_.problem = Problem::overflow;
            return false;
        }
        return check_writers(buffer, tracer.segments());
    }

    // What host code wrote must be as it was before the call, at the same place, or one value all over: somebody has
    // cleared the array first. An element at a time, since a few of those that a kernel wrote may be right by chance.
    bool check_writers(const OriginBuffer& buffer, std::span<const Segment> segments) {
        const std::size_t step = buffer.element_bytes;
        std::optional<Bytes> fill;
        for (const Segment& segment : segments) {
            const OriginLog::Down& piece = log_.down()[segment.piece];
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
                    verdict_.problem = Problem::host_wrote;
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
            if (!holds(query_, image)) code += image.size();
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
        for (const OriginBuffer& buffer : query_.buffers) cover.add_source(buffer.before, buffer.element_bytes);
        for (const OriginScalar& scalar : query_.scalars) {
            const auto* bits = reinterpret_cast<const std::byte*>(&scalar.bits);
            cover.add_source({bits, scalar.bytes}, scalar.bytes);
        }
        auto came = log_.down().begin();
        const OriginLog::Up* first = nullptr;
        for (const auto& piece : log_.up()) {
            if (log_.is_overwritten(piece)) continue;
            // What had come down before may go up again.
            for (; came != log_.down().end() && came->number < piece.number; ++came) cover.add_came(came->bytes);
            const bool clean = cover.first_unexplained().empty();
            cover.explain(piece.bytes);
            if (clean && !cover.first_unexplained().empty()) first = &piece;
        }
        const std::uint64_t allowance = std::max(small_allowance, outputs_ / allowance_share) + query_.allowance_bytes;
        const std::uint64_t cost = cover.cost() + parameters() + choices();
        if (cost > allowance) {
            verdict_.problem = Problem::went_up;
            verdict_.bytes = cost;
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
    // What the choice of fills tells, and that of launches: beyond a few, in each at least a byte.
    [[nodiscard]] std::uint64_t choices() const {
        constexpr std::size_t free_launches = 64;
        return fill_cost * log_.fill_count() + (std::max(log_.launch_count(), free_launches) - free_launches);
    }
    [[nodiscard]] bool is_scalar(std::uint32_t word) const {
        return std::ranges::any_of(query_.scalars, [&](const OriginScalar& scalar) {
            return static_cast<std::uint32_t>(scalar.bits) == word ||
                   static_cast<std::uint32_t>(scalar.bits >> 32) == word;
        });
    }

    // Small fills may have put it together, byte by byte.
    [[nodiscard]] bool is_spelled(std::uint32_t word) const {
        for (int byte = 0; byte < 4; ++byte)
            if (!log_.spelling().contains(static_cast<std::uint8_t>(word >> (8 * byte)))) return false;
        return true;
    }

    // A result of a few bytes must not have gone up itself. Small whole numbers are sizes as well.
    bool check_small(std::span<const std::uint32_t> unexplained) {
        std::set<std::uint32_t> sent(unexplained.begin(), unexplained.end());
        for (const std::uint32_t word : log_.words())
            if (!is_scalar(word)) sent.insert(word);
        const auto went_up = [&](std::uint32_t word) {
            constexpr std::uint32_t largest_size = 1u << 20;
            const bool plain = word < largest_size || ~word < largest_size || (word & 0x7fffff) == 0;
            return !plain && (sent.contains(word) || is_spelled(word));
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
    WriterTag last_final_ = writer::nobody;
    std::uint64_t outputs_ = 0;  // bytes
    bool traced_ = true;
};

}  // namespace

OriginVerdict check_origin(const OriginQuery& query, const OriginLog& log) { return Judgement(query, log).pronounce(); }

}  // namespace warpgrade::device
