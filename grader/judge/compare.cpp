#include "judge/compare.hpp"

#include <fmt/format.h>

#include "judge/context.hpp"

namespace warpgrade::judge {

double gamma(double k) {
    constexpr double u = 0x1p-24;
    return k * u / (1 - k * u);
}

double dot_bound(double k, double sum_of_magnitudes) {
    // One term more pays for the oracle's own sum in double; a product below the normal range may lose half of the
    // smallest denormal, 2^-150.
    return gamma(k + 1) * sum_of_magnitudes + (k + 1) * 0x1p-150;
}

namespace detail {

std::string format(double value, bool is_float) {
    return is_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string Differences::place(std::size_t index) const {
    if (columns_ == 0) return fmt::format("[{}]", index);
    return fmt::format("[row {}, column {}]", index / columns_, index % columns_);
}

void Differences::add(std::size_t index, std::string expected, std::string got, double tolerance) {
    ++count_;
    places_.push_back(place(index));
    shown_.push_back(fmt::format("expected {}, got {}", expected, got));
    if (tolerance > 0) shown_.back() += fmt::format(" (tolerance {:.2g})", tolerance);
}

std::string Differences::message(std::size_t size) const {
    if (size == 1) return shown_[0];
    std::string text = fmt::format("{} of {} elements {} wrong", count_, size, count_ == 1 ? "is" : "are");
    if (rows_ * columns_ == size && columns_ != 0) text += fmt::format(" ({} × {})", rows_, columns_);
    for (std::size_t i = 0; i < shown_.size(); ++i) text += "\n  " + places_[i] + ' ' + shown_[i];
    if (count_ > shown_.size()) text += "\n  …";
    return text;
}

void explain_mismatch(std::string message) { context().mismatch = std::move(message); }

void size_mismatch(std::size_t expected, std::size_t got) {
    explain_mismatch(fmt::format("expected {} elements, got {}", expected, got));
}

}  // namespace detail
}  // namespace warpgrade::judge
