#include "judge/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "device/fresh_memory.hpp"
#include "judge/signs.hpp"

namespace warpgrade::judge {
namespace {

constexpr std::size_t few = 3;  // wrong elements below which a pattern of values may be chance
constexpr double largest_half = 65504;
constexpr double most_threads = 4096;  // that are added up; with more, any large number would nearly be a multiple

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Whether `value` is `fresh`, or a sum in which some threads' parts began with it and the rest are too small to show.
bool is_sum_of(double fresh, double value) {
    const double times = value / fresh, whole = std::round(times);
    return whole >= 1 && whole <= most_threads && std::abs(times - whole) <= 1e-6 * whole;
}

// Whether this is what a register holds that nothing was stored into.
bool is_fresh_register(double value) {
    std::uint64_t bits;
    std::memset(&bits, device::fresh_register_byte, sizeof bits);
    const auto half = static_cast<std::uint32_t>(bits);
    return is_sum_of(std::bit_cast<double>(bits), value) || is_sum_of(std::bit_cast<float>(half), value) ||
           value == std::bit_cast<std::int32_t>(half);
}

// Whether the difference is that of a whole number to which some threads' parts came that began with it, modulo 2^32.
bool is_sum_of_fresh_words(double expected, double got) {
    const auto is_word = [](double value) { return std::trunc(value) == value && std::abs(value) <= 0x1p31; };
    if (!is_word(expected) || !is_word(got)) return false;
    std::uint32_t word, inverse = 1;
    std::memset(&word, device::fresh_register_byte, sizeof word);
    for (int i = 0; i < 5; ++i) inverse *= 2 - word * inverse;  // Newton's: the right bits double from 1 to 32
    const auto difference =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(got) - static_cast<std::int64_t>(expected));
    const std::uint32_t times = difference * inverse;
    return times >= 1 && times <= most_threads;
}

std::optional<Pattern> find_unset_variable(const ComparedElements& c) {
    const auto is_unset = [&](std::size_t i) {
        return is_fresh_register(c.got[i]) || is_sum_of_fresh_words(c.expected[i], c.got[i]);
    };
    if (!std::ranges::all_of(c.wrong, is_unset)) return std::nullopt;
    return Pattern{{sign::unset},
                   fmt::format(": {} what a variable holds that was never given a value, such as a sum that does not "
                               "begin with 0",
                               c.wrong.size() == 1 ? "it holds" : "they hold")};
}

bool about_equal(double a, double b) {
    return same(a, b) || std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b));
}

template <class Predicate>
bool all_wrong(const ComparedElements& c, Predicate holds) {
    return std::ranges::all_of(c.wrong, holds);
}

// True if each wrong element has the expected value of element `source(index)`, unless these values are all the same.
// The element `except` is ignored, since it has no neighbour that its value could come from.
template <class Source>
bool is_moved(const ComparedElements& c, Source source, std::size_t except = SIZE_MAX) {
    if (c.wrong.size() < few) return false;
    std::set<double> values;
    for (const std::size_t i : c.wrong) {
        if (i == except) continue;
        const std::size_t from = source(i);
        if (from >= c.expected.size() || !about_equal(c.got[i], c.expected[from])) return false;
        if (values.size() < few) values.insert(c.got[i]);
    }
    return values.size() >= few;
}

std::optional<Pattern> find_moved_values(const ComparedElements& c) {
    const std::size_t n = c.expected.size();
    if (c.rows > 1 && c.columns > 1 &&
        is_moved(c, [&](std::size_t i) { return i % c.rows * c.columns + i / c.rows; })) {
        if (c.rows == c.columns)
            return Pattern{{sign::transposed},
                           ": the result is transposed; [row, column] holds what belongs to [column, row]"};
        return Pattern{{sign::transposed}, ": the result is stored column by column instead of row by row"};
    }
    if (is_moved(c, [&](std::size_t i) { return n - 1 - i; }))
        return Pattern{{sign::reversed}, ": the result is in reverse order"};
    for (const int by : {1, -1}) {
        const auto source = [&](std::size_t i) { return i - static_cast<std::size_t>(by); };
        if (is_moved(c, source, by == 1 ? 0 : n - 1))
            return Pattern{{sign::shifted},
                           fmt::format(": each holds what belongs one place {}", by == 1 ? "before" : "after")};
    }
    return std::nullopt;
}

// Infinities where the expected value fits into a float but not into a half.
std::optional<Pattern> find_half_overflow(const ComparedElements& c) {
    const auto is_too_large = [&](std::size_t i) {
        return std::isinf(c.got[i]) && std::isfinite(c.expected[i]) && std::abs(c.expected[i]) >= largest_half;
    };
    if (c.digits == 0 || !all_wrong(c, is_too_large)) return std::nullopt;
    return Pattern{{sign::precision},
                   c.expected.size() == 1 ? ": half precision ends at 65,504"
                                          : ": all of them are infinite, and half precision ends at 65,504"};
}

// True if a floating-point type with so many significant bits can hold the value. The exponent is ignored.
bool fits(double value, int digits) {
    int exponent = 0;
    const double scaled = std::ldexp(std::frexp(value, &exponent), digits);
    return std::trunc(scaled) == scaled;
}

// Finds results that are nearly right, as if computed with fewer bits. Expected values with few bits would then be
// exact, so if many of these are wrong, it is another mistake. Differences are compared with the usual magnitude of all
// results, since terms of a sum may cancel.
std::optional<Pattern> find_low_precision(const ComparedElements& c) {
    if (c.digits == 0) return std::nullopt;
    const bool is_double = c.digits > 24;
    double squares = 0;
    for (const double value : c.expected) squares += std::isfinite(value) ? value * value : 0;
    const double usual = std::sqrt(squares / static_cast<double>(c.expected.size()));
    const auto is_near = [&](std::size_t i) {
        return std::isfinite(c.expected[i]) &&
               std::abs(c.got[i] - c.expected[i]) <= 0x1p-7 * std::max(std::abs(c.expected[i]), usual);
    };
    const auto is_short = [&](std::size_t i) { return fits(c.expected[i], is_double ? 24 : 11); };
    if (!all_wrong(c, is_near) || std::ranges::count_if(c.wrong, is_short) * 8 > std::ssize(c.wrong))
        return std::nullopt;
    return Pattern{
        {sign::precision},
        fmt::format(": each is nearly right, as with less precision than {} has", is_double ? "double" : "float")};
}

// What the launches had so many of; empty for a number that means nothing. Who lets each thread do what one should do
// has the result so many times.
std::string find_meaning(double factor, std::span<const device::LaunchConfig> launches) {
    const auto volume = [](const device::Dim3& d) { return double{1} * d.x * d.y * d.z; };
    if (factor < 2) return {};
    for (const auto& [grid, block, bytes, stream, cooperative] : launches)
        if (factor == volume(block)) return "the number of threads of a block";
    for (const auto& [grid, block, bytes, stream, cooperative] : launches) {
        if (factor == volume(grid)) return "the number of blocks";
        if (factor == volume(grid) * volume(block)) return "the number of threads of the launch";
    }
    return factor == 32 ? "the number of threads of a warp" : "";
}

Pattern explain_factor(double factor, std::span<const device::LaunchConfig> launches) {
    const auto text = fmt::format(": each is {} times what is expected", static_cast<float>(factor));
    const double whole = std::round(factor);
    const auto meaning = about_equal(factor, whole) ? find_meaning(whole, launches) : "";
    if (meaning.empty()) return {{sign::factor}, text};
    return {{sign::repeated},
            fmt::format("{}, and {} is {}: does each of them do what one alone, or all together, should do?", text,
                        static_cast<float>(whole), meaning)};
}

// Values without their fractions, as an int keeps them.
std::optional<Pattern> find_truncated(const ComparedElements& c) {
    const auto is_truncated = [&](std::size_t i) {
        const double right = c.expected[i];
        return std::trunc(right) != right && c.got[i] == std::trunc(right);
    };
    if (c.digits == 0 || !all_wrong(c, is_truncated)) return std::nullopt;
    if (c.wrong.size() < few && c.expected.size() != 1) return std::nullopt;
    if (all_wrong(c, [&](std::size_t i) { return c.got[i] == 0; })) return std::nullopt;
    return Pattern{{sign::truncated},
                   fmt::format(": {} what is expected without its fraction. Is a variable, a sum or an array of the "
                               "type int?",
                               c.wrong.size() == 1 ? "it is" : "each is")};
}

std::optional<Pattern> find_value_pattern(const ComparedElements& c) {
    const std::size_t first = c.wrong[0];
    const bool one = c.wrong.size() == 1;
    if (c.unwritten == c.wrong.size())
        return Pattern{
            {sign::unwritten},
            fmt::format(": {} the pattern of memory that nothing had written when it was read: device memory, or "
                        "an array without __shared__",
                        one ? "it holds" : "they hold")};
    if (auto found = find_unset_variable(c)) return found;
    if (all_wrong(c, [&](std::size_t i) { return std::isnan(c.got[i]); }))
        return Pattern{{sign::nan}, one ? ": it is NaN" : ": all of them are NaN"};
    if (all_wrong(c, [&](std::size_t i) { return c.got[i] == 0; }))
        return Pattern{{sign::zeros}, one ? ": it is 0" : ": all of them are 0"};
    if (auto found = find_moved_values(c)) return found;
    if (auto found = find_half_overflow(c)) return found;
    if (c.wrong.size() < few) return std::nullopt;
    if (all_wrong(c, [&](std::size_t i) { return same(c.got[i], c.got[first]); }))
        return Pattern{{sign::constant}, fmt::format(": all of them are {}", static_cast<float>(c.got[first]))};
    const double factor = c.got[first] / c.expected[first];
    std::set<double> values;
    const auto is_multiple = [&](std::size_t i) {
        if (values.size() < few) values.insert(c.expected[i]);
        return c.expected[i] != 0 && about_equal(c.got[i], factor * c.expected[i]);
    };
    const bool is_factor = std::isfinite(factor) && factor != 0 && !about_equal(factor, 1);
    if (is_factor && all_wrong(c, is_multiple) && values.size() >= few) return explain_factor(factor, c.launches);
    if (auto found = find_truncated(c)) return found;
    return find_low_precision(c);
}

// The smallest and the largest coordinate of the wrong elements.
template <class Coordinate>
std::pair<std::size_t, std::size_t> range(const ComparedElements& c, Coordinate coordinate) {
    const auto [least, most] = std::ranges::minmax(c.wrong, {}, coordinate);
    return {coordinate(least), coordinate(most)};
}

// "all in the rows from 48 on", if the wrong elements reach the last row and are in less than half of the rows.
std::optional<Pattern> find_tail(const char* what, std::pair<std::size_t, std::size_t> found, std::size_t count) {
    if (found.second + 1 != count || found.first * 2 < count) return std::nullopt;
    if (found.first == found.second) return Pattern{{sign::tail}, fmt::format(", all in the last {}", what)};
    return Pattern{{sign::tail}, fmt::format(", all in the {}s from {} on", what, found.first)};
}

// Where only what the first blocks or the first warp make is right, and at least half of the rest is wrong: what the
// later ones make of their own numbers is not. `first`: of the wrong elements, rows or columns, of `count`.
struct FirstRight {
    std::uint32_t device::Dim3::*dimension;  // of the blocks
    const char *block, *blocks;
    bool has_warps;
};
std::string find_first_right(const ComparedElements& c, std::size_t first, std::size_t count, const FirstRight& of) {
    constexpr std::size_t warp = 32, most_blocks = 2;
    if (first == 0 || c.unwritten != 0) return {};
    if (c.wrong.size() * count < c.expected.size() * (count - first) / 2) return {};
    for (const auto& launch : c.launches) {
        const std::size_t size = launch.block.*of.dimension, blocks = first / size;
        if (size < 2 || launch.grid.*of.dimension <= most_blocks || first % size != 0 || blocks > most_blocks) continue;
        return blocks == 1 ? fmt::format(": only the first {} is right", of.block)
                           : fmt::format(": only the first {} {} are right", blocks, of.blocks);
    }
    const auto has_warps = [&](const auto& launch) { return launch.block.*of.dimension > warp; };
    if (first == warp && of.has_warps && std::ranges::any_of(c.launches, has_warps))
        return ": only the first warp is right";
    return {};
}

// "every 32nd", if exactly the elements with one remainder are wrong.
std::optional<Pattern> find_stride(const ComparedElements& c) {
    for (const std::size_t step : {1024, 512, 256, 128, 64, 32}) {
        const std::size_t rest = c.wrong[0] % step;
        const std::size_t count = (c.expected.size() - rest + step - 1) / step;
        if (count < 2 || c.wrong.size() != count) continue;
        if (!all_wrong(c, [&](std::size_t i) { return i % step == rest; })) continue;
        const char* ending = step % 10 == 2 ? "nd" : "th";
        return Pattern{{sign::stride}, fmt::format(": every {}{} element, from [{}] on", step, ending, rest)};
    }
    return std::nullopt;
}

// "all in the first column of a tile of 16", for rows or columns.
template <class Coordinate>
std::optional<Pattern> find_tile(const ComparedElements& c, const char* what, std::size_t count,
                                 Coordinate coordinate) {
    for (const std::size_t step : {32, 16, 8}) {
        if (count < 2 * step) continue;
        const std::size_t rest = coordinate(c.wrong[0]) % step;
        if (rest != 0 && rest != step - 1) continue;
        if (all_wrong(c, [&](std::size_t i) { return coordinate(i) % step == rest; }) &&
            range(c, coordinate).first != range(c, coordinate).second)
            return Pattern{{sign::tile},
                           fmt::format(", all in the {} {} of a tile of {}", rest ? "last" : "first", what, step)};
    }
    return std::nullopt;
}

std::optional<Pattern> find_place_pattern(const ComparedElements& c) {
    constexpr FirstRight each_block{&device::Dim3::x, "block", "blocks", true},
        rows_of_blocks{&device::Dim3::y, "row of blocks", "rows of blocks", false},
        columns_of_blocks{&device::Dim3::x, "column of blocks", "columns of blocks", false};
    const std::size_t n = c.expected.size();
    if (c.wrong.size() == n) return Pattern{{sign::all}, ""};
    const bool matrix = c.rows > 1 && c.columns > 1;
    if (matrix) {
        const auto row = [&](std::size_t i) { return i / c.columns; };
        const auto column = [&](std::size_t i) { return i % c.columns; };
        const auto rows = range(c, row), columns = range(c, column);
        if (const auto first = find_first_right(c, rows.first, c.rows, rows_of_blocks); !first.empty())
            return Pattern{{sign::later}, fmt::format(", all in the rows from {} on{}", rows.first, first)};
        if (const auto first = find_first_right(c, columns.first, c.columns, columns_of_blocks); !first.empty())
            return Pattern{{sign::later}, fmt::format(", all in the columns from {} on{}", columns.first, first)};
        if (auto found = find_tail("row", rows, c.rows)) return found;
        if (auto found = find_tail("column", columns, c.columns)) return found;
        if (auto found = find_tile(c, "row", c.rows, row)) return found;
        if (auto found = find_tile(c, "column", c.columns, column)) return found;
        const auto at_edge = [&](std::size_t i) {
            return row(i) == 0 || column(i) == 0 || row(i) + 1 == c.rows || column(i) + 1 == c.columns;
        };
        if (c.wrong.size() >= few && all_wrong(c, at_edge)) return Pattern{{sign::edge}, ", all at the edge"};
        return std::nullopt;
    }
    if (c.wrong.size() == 1) {
        if (c.wrong[0] == 0) return Pattern{{sign::single}, ": the first"};
        if (c.wrong[0] + 1 == n) return Pattern{{sign::tail}, ": the last"};
        return Pattern{{sign::single}, ""};
    }
    if (auto found = find_stride(c)) return found;
    if (const auto first = find_first_right(c, c.wrong.front(), n, each_block); !first.empty())
        return Pattern{{sign::later}, fmt::format(": all from [{}] on{}", c.wrong.front(), first)};
    const bool contiguous = c.wrong.back() - c.wrong.front() + 1 == c.wrong.size();
    if (contiguous && c.wrong.back() + 1 == n)
        return Pattern{{sign::tail}, fmt::format(": all from [{}] to the end", c.wrong.front())};
    if (c.wrong.size() == 2 && c.wrong[0] == 0 && c.wrong[1] + 1 == n)
        return Pattern{{sign::edge}, ": the first and the last"};
    return std::nullopt;
}

}  // namespace

std::optional<Pattern> find_pattern(const ComparedElements& c) {
    if (c.wrong.empty()) return std::nullopt;
    if (c.expected.size() == 1) {
        for (const auto& find : {find_unset_variable, find_truncated, find_half_overflow})
            if (auto found = find(c)) return found;
        return std::nullopt;
    }
    const auto value = find_value_pattern(c), place = find_place_pattern(c);
    if (!value) return place;
    if (!place) return value;
    return Pattern{{value->signs[0], place->signs[0]}, place->text + value->text};
}

}  // namespace warpgrade::judge
