#include "judge/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "judge/context.hpp"
#include "judge/explain.hpp"
#include "judge/signs.hpp"

namespace warpgrade::judge {

double gamma(double k) {
    constexpr double u = 0x1p-24;
    return k * u / (1 - k * u);
}

double dot_bound(double k, double sum_of_magnitudes) {
    // One more term covers the oracle's own sum in double. A product below the normal range may lose half of the
    // smallest denormal, 2^-150.
    return gamma(k + 1) * sum_of_magnitudes + (k + 1) * 0x1p-150;
}

namespace detail {

namespace {

bool is_uniform(const Pattern& pattern) {
    const auto name = pattern.signs[0];
    return name == sign::unwritten || name == sign::zeros || name == sign::nan || name == sign::constant ||
           name == sign::unset;
}

// True if all wrong elements are as before the call. Fewer than four bytes may be so by chance.
bool is_wrong_unchanged(const LastOutput& output, std::span<const std::byte> bytes, const ComparedElements& compared) {
    const std::size_t size = compared.got.empty() ? 0 : bytes.size() / compared.got.size();
    if (size < 4 || output.before.size() != bytes.size()) return false;
    return std::ranges::all_of(compared.wrong, [&](std::size_t i) {
        return std::memcmp(bytes.data() + i * size, output.before.data() + i * size, size) == 0;
    });
}

}  // namespace

std::string format(double value, bool is_float) {
    return is_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string Differences::place(std::size_t index) const {
    if (compared_.columns == 0) return fmt::format("[{}]", index);
    return fmt::format("[row {}, column {}]", index / compared_.columns, index % compared_.columns);
}

void Differences::show(std::string expected, std::string got, double tolerance) {
    shown_.push_back({std::move(expected), std::move(got), tolerance});
}

std::string Differences::Shown::text() const {
    auto words = fmt::format("expected {}, got {}", expected, got);
    if (tolerance > 0) words += fmt::format(" (tolerance {:.2g})", tolerance);
    return words;
}

std::string Differences::message(std::string_view pattern) const {
    const std::size_t size = compared_.expected.size(), count = compared_.wrong.size();
    if (size == 1) return shown_[0].text() + std::string(pattern);
    std::string text = fmt::format("{} of {} elements {} wrong", count, size, count == 1 ? "is" : "are");
    if (compared_.rows * compared_.columns == size)
        text += fmt::format(" ({} × {})", compared_.rows, compared_.columns);
    text += pattern;
    for (std::size_t i = 0; i < shown_.size(); ++i) text += "\n  " + place(compared_.wrong[i]) + ' ' + shown_[i].text();
    if (count > shown_.size()) text += "\n  …";
    return text;
}

void Differences::explain(std::vector<double> expected, std::vector<double> got, std::span<const std::byte> bytes) {
    compared_.expected = std::move(expected), compared_.got = std::move(got);
    auto& current = context();
    current.add_sign(sign::wrong);
    const LastOutput* output = current.find_output(bytes);
    const auto say = [&](const std::string& text) {
        explain_mismatch(text);
        if (output) current.failure = output->name + ": " + text;
    };
    if (output && output->unchanged) {
        current.add_sign(sign::unwritten);
        current.failure = explain_unwritten(*output);
        return explain_mismatch(current.failure);
    }
    if (output && is_wrong_unchanged(*output, bytes, compared_)) {
        current.add_sign(sign::unwritten);
        return say(
            message(fmt::format(": they still are what {} held before the call. Does the kernel write there, and "
                                "is the whole array copied back?",
                                output->name)));
    }
    if (output) compared_.launches = current.launched;
    const auto pattern = find_pattern(compared_);
    if (pattern)
        for (const auto name : pattern->signs) current.add_sign(name);
    // One example is enough if all wrong elements look the same.
    if (pattern && is_uniform(*pattern)) shown_.resize(1);
    say(message(pattern ? pattern->text : ""));
}

namespace {

// Which order, and the heading of its values.
std::pair<const char*, const char*> words_of(device::Order order) {
    switch (order) {
        case device::Order::ahead:
            return {"With the last ones far ahead", "last ahead"};
        case device::Order::reverse:
            return {"With the last ones first", "last first"};
        default:
            return {"With turns at each access of memory", "in turns"};
    }
}

// Of UTF-8 text, each of whose characters takes one.
std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string race_lines() {
    for (const device::Diagnostic& found : context().diagnostics) {
        if (!std::string_view(found.rule->id).starts_with("racecheck/") || found.place.file.empty()) continue;
        std::vector<std::string> places{fmt::format("{}:{}", tame(found.place.file), found.place.line)};
        for (const auto& other : found.related)
            if (other.place.line && other.thread)
                places.push_back(fmt::format("{}:{}", tame(other.place.file), other.place.line));
        if (places.size() > 1 && places[1] == places[0]) places.resize(1);
        return fmt::format("\n  Nothing orders the accesses at {} ({})", fmt::join(places, " and "), found.rule->id);
    }
    return "";
}

void explain_dependence(device::Order order, std::string_view what, std::span<const std::byte> bytes) {
    auto& current = context();
    current.add_sign(sign::order);
    auto text = fmt::format(
        "right if blocks, warps and lanes run in the order of their numbers, but they may run in any order. {}{}{}",
        words_of(order).first, what, race_lines());
    explain_mismatch(text);
    if (const LastOutput* output = current.find_output(bytes)) current.failure = output->name + ": " + text;
}

}  // namespace

void Differences::explain_order(device::Order order, const std::vector<std::string>& forward, std::size_t size,
                                std::span<const std::byte> bytes) const {
    std::vector<std::array<std::string, 4>> rows{{"", "expected", "in order", words_of(order).second}};
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        rows.push_back({size == 1 ? "" : place(compared_.wrong[i]), shown_[i].expected, forward[i], shown_[i].got});
        if (shown_[i].tolerance > 0) rows.back()[1] += fmt::format(" ± {:.2g}", shown_[i].tolerance);
    }
    std::array<std::size_t, 4> widths{};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
    const std::size_t count = compared_.wrong.size();
    std::string text = size == 1 ? std::string(" it is wrong:")
                                 : fmt::format(", {} of {} elements {} wrong:", count, size, count == 1 ? "is" : "are");
    for (const auto& row : rows) {
        text += "\n ";
        for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format(" {:>{}} ", row[i], widths[i]);
        text.erase(text.find_last_not_of(' ') + 1);
    }
    if (count > shown_.size()) text += "\n  …";
    explain_dependence(order, text, bytes);
}

void explain_failed_order(const OtherOutput& other, std::span<const std::byte> bytes) {
    explain_dependence(other.order, " the call fails: " + other.failure, bytes);
}

void explain_mismatch(std::string message) { context().mismatch = std::move(message); }

void size_mismatch(std::size_t expected, std::size_t got) {
    explain_mismatch(fmt::format("expected {} elements, got {}", expected, got));
}

}  // namespace detail
}  // namespace warpgrade::judge
