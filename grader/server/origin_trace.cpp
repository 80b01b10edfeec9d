#include "server/origin_trace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "device/fresh_memory.hpp"

namespace warpgrade::server {

namespace {

using Problem = OriginVerdict::Problem;

constexpr std::size_t small_piece = 128;      // bytes; a returned value may be anywhere in so small a download
constexpr std::size_t max_small_pieces = 32;  // downloads shorter than a run, for one output
constexpr std::size_t max_starts = 16;        // places at which to try a layout of rows

}  // namespace

bool Tracer::trace(OriginVerdict& verdict) {
    if (find_whole() || find_rows()) return true;
    return find_runs(verdict);
}

bool Tracer::find_whole() {
    for (std::size_t i = count(); i-- > 0;) {
        const std::size_t at = find_bytes(piece(i).bytes, out_, 0, element_);
        if (at == npos) continue;
        segments_.push_back({0, out_.size(), i, at});
        return true;
    }
    return false;
}

bool Tracer::find_rows() {
    for (const std::size_t row : rows_) {
        const std::size_t width = row * element_;
        if (width >= out_.size() || out_.size() % width != 0) continue;
        for (std::size_t i = count(); i-- > 0;)
            if (find_rows_in(i, width)) return true;
    }
    return false;
}

bool Tracer::find_rows_in(std::size_t i, std::size_t width) {
    const Bytes data = piece(i).bytes;
    const std::size_t height = out_.size() / width;
    std::size_t start = find_bytes(data, out_.first(width), 0, element_);
    for (std::size_t tried = 0; start != npos && tried < max_starts; ++tried) {
        // Tries every pitch that leaves room for the last row; the second row rules out most of them.
        for (std::size_t pitch = width; start + (height - 1) * pitch + width <= data.size(); pitch += element_) {
            if (!is_pitch(data, start, pitch, width, height)) continue;
            for (std::size_t y = 0; y < height; ++y) segments_.push_back({y * width, width, i, start + y * pitch});
            return true;
        }
        start = find_bytes(data, out_.first(width), start + element_, element_);
    }
    return false;
}

bool Tracer::is_pitch(Bytes data, std::size_t start, std::size_t pitch, std::size_t width, std::size_t height) const {
    for (std::size_t y = 1; y < height; ++y)
        if (std::memcmp(out_.data() + y * width, data.data() + start + y * pitch, width) != 0) return false;
    return true;
}

bool Tracer::find_runs(OriginVerdict& verdict) {
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

std::size_t Tracer::run_at(std::size_t at, std::size_t i, std::size_t from) const {
    if (from >= piece(i).bytes.size()) return 0;
    const std::size_t run = common_prefix(out_.subspan(at), Bytes(piece(i).bytes).subspan(from));
    return run - run % element_;
}

// Unwritten bytes are as before the call, or hold the pattern of fresh device memory.
std::size_t Tracer::unwritten(std::size_t at) const {
    const std::size_t run = at < before_.size() ? common_prefix(out_.subspan(at), before_.subspan(at)) : 0;
    if (run > 0 && run >= element_) return run - run % element_;
    if (element_ < 4) return 0;  // a result of one or two bytes may equal the pattern
    const auto is_fresh = [](std::byte value) { return value == std::byte{fresh_byte}; };
    const auto rest = out_.subspan(at);
    const auto fresh = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_fresh) - rest.begin());
    return fresh - fresh % element_;
}

std::size_t Tracer::next_piece(std::size_t at, std::size_t last) {
    for (std::size_t i = last == npos ? 0 : last + 1; i < count(); ++i)
        if (begins_with(at, i, last)) return i;
    for (std::size_t i = count(); i-- > 0;)
        if (begins_with(at, i, last)) return i;
    return npos;
}

bool Tracer::begins_with(std::size_t at, std::size_t i, std::size_t last) {
    const Bytes data = piece(i).bytes;
    const std::size_t wanted = std::min(run_elements * element_, out_.size() - at);
    std::size_t place = find_bytes(data, out_.subspan(at, wanted), cursors_[i], element_);
    // A download shorter than a run, or one that goes up to an unwritten part of the output.
    if (place == npos && cursors_[i] == 0) {
        const std::size_t run = run_at(at, i, 0);
        const bool all = run != 0 && run == data.size() - data.size() % element_;
        // Many short downloads could assemble the result, but not if they are contiguous on the device.
        const bool goes_on = last != npos && piece(last).address + piece(last).bytes.size() / runs_ == piece(i).address;
        const bool enough = all && (run >= run_elements * element_ || goes_on || is_next_row(at, i, last) ||
                                    ++small_ <= max_small_pieces);
        if (enough || (run != 0 && unwritten(at + run) != 0)) place = 0;
    }
    if (place == npos) return false;
    cursors_[i] = place;
    return true;
}

bool Tracer::is_next_row(std::size_t at, std::size_t i, std::size_t last) {
    const std::size_t bytes = piece(i).bytes.size();
    if (last == npos || at % bytes != 0 || std::ranges::find(rows_, bytes / element_) == rows_.end()) return false;
    const auto pitch = static_cast<std::int64_t>(piece(i).address - piece(last).address);
    if (pitch <= 0 || (pitch_ != 0 && pitch != pitch_)) return false;
    pitch_ = pitch;
    return true;
}

void Tracer::explain(std::size_t at, OriginVerdict& verdict) const {
    verdict.element = at / element_;
    if (count() == 0) {
        verdict.problem = Problem::no_download;
        return;
    }
    // If a download as large as the output agrees in most elements, report the first that differs.
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
        verdict.sample.assign(data.begin() + static_cast<std::ptrdiff_t>(first),
                              data.begin() + static_cast<std::ptrdiff_t>(first + element_));
        return;
    }
    // Report the first element after the longest matching run.
    at += longest_run(at);
    verdict.element = at / element_;
    // It counts as moved if its neighbours are in downloads too, since single values match by chance.
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

std::size_t Tracer::longest_run(std::size_t at) const {
    std::size_t longest = 0;
    for (std::size_t i = count(); i-- > 0;) {
        std::size_t place = at < piece(i).bytes.size() && run_at(at, i, at) != 0
                                ? at
                                : find_bytes(piece(i).bytes, out_.subspan(at, element_), 0, element_);
        if (place != npos) longest = std::max(longest, run_at(at, i, place));
    }
    return at + longest < out_.size() ? longest : 0;
}

namespace {

// True if the bytes are the returned value in any type that the device may have used.
bool is_value(const OriginQuery::Result& result, Bytes at) {
    const auto same = [&](auto value) {
        if (result.type == OriginQuery::Result::Type::floating) {
            if (result.bytes == 4) {
                const auto got = load<float>(reinterpret_cast<const std::byte*>(&result.bits));
                const auto there = static_cast<float>(value);
                return std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(there) ||
                       (std::isnan(got) && std::isnan(there));
            }
            const auto got = load<double>(reinterpret_cast<const std::byte*>(&result.bits));
            const auto there = static_cast<double>(value);
            return std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(there) ||
                   (std::isnan(got) && std::isnan(there));
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
    return !floating && (same(load<std::int8_t>(at.data())) || same(load<std::uint8_t>(at.data())) ||
                         (at.size() >= 2 && same(load<std::int16_t>(at.data()))) ||
                         (at.size() >= 2 && same(load<std::uint16_t>(at.data()))));
}

}  // namespace

namespace {

// Finds the last download, and in it the first place, that may hold the returned value and for which is_it(i, at)
// holds.
template <class Test>
std::optional<Segment> find_place(const OriginQuery::Result& result, const OriginLog& log, const Test& is_it) {
    for (std::size_t i = log.downloads().size(); i-- > 0;) {
        const Bytes data = log.downloads()[i].bytes;
        const std::size_t step = std::min(result.bytes, 4u);
        for (std::size_t at = 0; at < data.size(); at += step) {
            if (data.size() > small_piece && at >= 8 && at + 8 < data.size()) at = (data.size() - 8) / step * step;
            if (is_it(i, at)) return Segment{0, std::min<std::size_t>(4, data.size() - at), i, at};
        }
    }
    return std::nullopt;
}

std::vector<std::byte> alternate(Bytes mine, Bytes other, std::size_t unit) {
    std::vector<std::byte> both;
    const std::size_t size = std::min(mine.size(), other.size());
    both.reserve(2 * size);
    for (std::size_t at = 0; at < size; at += unit)
        for (const Bytes from : {mine, other}) {
            const Bytes part = from.subspan(at, std::min(unit, size - at));
            both.insert(both.end(), part.begin(), part.end());
        }
    return both;
}

}  // namespace

std::optional<Segment> find_value(const OriginQuery::Result& result, const OriginLog& log) {
    return find_place(result, log, [&](std::size_t i, std::size_t at) {
        return is_value(result, Bytes(log.downloads()[i].bytes).subspan(at));
    });
}

bool come_from_same_places(const OriginQuery& query, const OriginLog& mine, const OriginLog& other,
                           std::span<const std::size_t> rows, OriginVerdict& verdict) {
    const auto &here = mine.downloads(), &there = other.downloads();
    const auto is_same_shape = [](const OriginLog::Download& a, const OriginLog::Download& b) {
        return a.bytes.size() == b.bytes.size();
    };
    if (!std::ranges::equal(here, there, is_same_shape)) return true;  // threads, or pages that lie elsewhere
    for (const OriginBuffer& buffer : query.buffers) {
        if (buffer.after.empty() || buffer.after.size() != buffer.other_after.size()) continue;
        Tracer alone(buffer, mine, rows);
        OriginVerdict ignored;
        if (!alone.trace(ignored)) continue;  // untouched, or one value everywhere
        const std::size_t unit = buffer.element_bytes;
        std::deque<OriginLog::Download> pairs;
        for (std::size_t i = 0; i < here.size(); ++i)
            pairs.push_back({.bytes = alternate(here[i].bytes, there[i].bytes, unit), .address = here[i].address});
        const auto before = alternate(buffer.before, buffer.other, unit),
                   after = alternate(buffer.after, buffer.other_after, unit);
        Tracer tracer({buffer.kind, buffer.argument, 2 * buffer.element_bytes, before, after, {}, {}}, pairs, rows, 2);
        OriginVerdict where;
        if (tracer.trace(where)) continue;
        verdict.argument = static_cast<int>(buffer.argument);
        verdict.element = where.element;
        return false;
    }
    if (!query.result) return true;
    const OriginQuery::Result& result = *query.result;
    OriginQuery::Result others = result;
    others.bits = result.other_bits;
    const auto is_mine = [&](std::size_t i, std::size_t at) {
        return is_value(result, Bytes(here[i].bytes).subspan(at));
    };
    const auto is_both = [&](std::size_t i, std::size_t at) {
        return is_mine(i, at) && is_value(others, Bytes(there[i].bytes).subspan(at));
    };
    if (!find_place(result, mine, is_mine) || find_place(result, mine, is_both)) return true;
    verdict.argument = -1;
    return false;
}

}  // namespace warpgrade::server
