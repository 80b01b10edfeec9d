#include "judge/compare.hpp"

#include <fmt/format.h>

#include <cstring>

#include "judge/context.hpp"
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
    shown_.push_back(fmt::format("expected {}, got {}", expected, got));
    if (tolerance > 0) shown_.back() += fmt::format(" (tolerance {:.2g})", tolerance);
}

std::string Differences::message(std::string_view pattern) const {
    const std::size_t size = compared_.expected.size(), count = compared_.wrong.size();
    if (size == 1) return shown_[0] + std::string(pattern);
    std::string text = fmt::format("{} of {} elements {} wrong", count, size, count == 1 ? "is" : "are");
    if (compared_.rows * compared_.columns == size)
        text += fmt::format(" ({} × {})", compared_.rows, compared_.columns);
    text += pattern;
    for (std::size_t i = 0; i < shown_.size(); ++i) text += "\n  " + place(compared_.wrong[i]) + ' ' + shown_[i];
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
    const auto pattern = find_pattern(compared_);
    if (pattern)
        for (const auto name : pattern->signs) current.add_sign(name);
    // One example is enough if all wrong elements look the same.
    if (pattern && is_uniform(*pattern)) shown_.resize(1);
    say(message(pattern ? pattern->text : ""));
}

void explain_mismatch(std::string message) { context().mismatch = std::move(message); }

void size_mismatch(std::size_t expected, std::size_t got) {
    explain_mismatch(fmt::format("expected {} elements, got {}", expected, got));
}

}  // namespace detail
}  // namespace warpgrade::judge
