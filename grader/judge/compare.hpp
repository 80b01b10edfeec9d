// Compares results of the student's code with the expected ones. The matchers say which elements differ, by how much,
// and what was allowed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/fresh_memory.hpp"
#include "judge/arguments.hpp"
#include "judge/orders.hpp"
#include "judge/pattern.hpp"

namespace warpgrade::judge {

// The oracle's answer, and how far from it each element may be.
struct Expected {
    std::vector<double> value, bound;
};

// gamma_k = k·u / (1 − k·u), u = 2^-24: a sum of k products in float, in any order and with or without FMA, is off by
// at most gamma_k · Σ |a_i·b_i| (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
double gamma(double k);
// That bound for one dot product of k terms. Allows for the oracle's own rounding and for products that underflow.
// Operands rounded to half precision exceed it for k up to a few hundred: their error is about 2^-11/√k · Σ |a_i·b_i|.
double dot_bound(double k, double sum_of_magnitudes);

namespace detail {

// Collects the elements that differ and words the message.
class Differences {
  public:
    // `digits`: the significant bits of a floating-point element, else 0.
    Differences(std::size_t rows, std::size_t columns, int digits) {
        compared_.rows = rows, compared_.columns = columns, compared_.digits = digits;
    }
    // `fresh`: the element is unwritten device memory.
    void add(std::size_t index, bool fresh) {
        compared_.wrong.push_back(index);
        compared_.unwritten += fresh;
    }
    void show(std::string expected, std::string got, double tolerance);
    [[nodiscard]] bool empty() const { return compared_.wrong.empty(); }
    [[nodiscard]] bool shows_more() const { return shown_.size() < 5; }
    // Where the elements are whose values are shown.
    [[nodiscard]] std::span<const std::size_t> shown() const { return std::span(compared_.wrong).first(shown_.size()); }
    // These set the verdict's message; Catch2's own one would print whole vectors.
    void explain(std::vector<double> expected, std::vector<double> got, std::span<const std::byte> bytes);
    // The differences are those of another order. `forward`: the shown elements in the ordinary one.
    void explain_order(device::Order order, const std::vector<std::string>& forward, std::size_t size,
                       std::span<const std::byte> bytes) const;

  private:
    [[nodiscard]] std::string place(std::size_t index) const;
    [[nodiscard]] std::string message(std::string_view pattern) const;
    struct Shown {
        std::string expected, got;
        double tolerance;
        [[nodiscard]] std::string text() const;
    };
    ComparedElements compared_;
    std::vector<Shown> shown_;  // of the first few
};

void explain_failed_order(const OtherOutput& other, std::span<const std::byte> bytes);

std::string format(double value, bool is_float);
template <class T>
std::string to_text(T value) {
    if constexpr (std::is_floating_point_v<T>)
        return format(static_cast<double>(value), sizeof(T) == 4);
    else
        return std::to_string(value);
}

void explain_mismatch(std::string message);
void size_mismatch(std::size_t expected, std::size_t got);

template <class T>
bool is_fresh(const T& value) {
    if (sizeof value < 4) return false;  // fewer bytes may equal the pattern by chance
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{device::fresh_byte}; });
}
template <class T>
constexpr int digits = std::is_floating_point_v<T> ? std::numeric_limits<T>::digits : 0;
template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

// Holds what the submission gives against what is expected: its output `got`, and what comes in its place in other
// orders of blocks and warps. `compare` returns the Differences of a vector.
template <class T, class Compare>
bool is_as_expected(const std::vector<T>& got, const std::vector<double>& expected, const Compare& compare) {
    const auto bytes = std::as_bytes(std::span(got));
    if (Differences differences = compare(got); !differences.empty()) {
        differences.explain(expected, as_doubles(got), bytes);
        return false;
    }
    for (const OtherOutput& other : find_other_outputs(bytes)) {
        if (!other.failure.empty()) {
            explain_failed_order(other, bytes);
            return false;
        }
        const Differences differences = compare(vector_of<T>(other.bytes));
        if (differences.empty()) continue;
        std::vector<std::string> forward;
        for (const std::size_t i : differences.shown()) forward.push_back(to_text(got[i]));
        differences.explain_order(other.order, forward, got.size(), bytes);
        return false;
    }
    return true;
}

}  // namespace detail

template <class Derived>
class Shaped {
  public:
    // Makes the message name elements by row and column.
    Derived& shape(std::size_t rows, std::size_t columns) {
        rows_ = rows, columns_ = columns;
        return static_cast<Derived&>(*this);
    }

  protected:
    std::size_t rows_ = 0, columns_ = 0;
};

class Near : public Shaped<Near> {
  public:
    explicit Near(Expected expected) : expected_(std::move(expected)) {}

    template <class T>
    bool match(const std::vector<T>& got) const {
        if (got.size() != expected_.value.size()) {
            detail::size_mismatch(expected_.value.size(), got.size());
            return false;
        }
        return detail::is_as_expected(got, expected_.value, [&](const std::vector<T>& each) { return compare(each); });
    }
    template <class T>
    bool match(const T& got) const requires std::is_arithmetic_v<T> {
        return match(std::vector<T>{got});
    }

    [[nodiscard]] std::string toString() const { return "is near the expected values"; }

  private:
    template <class T>
    detail::Differences compare(const std::vector<T>& got) const {
        detail::Differences differences(rows_, columns_, detail::digits<T>);
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (is_near(static_cast<double>(got[i]), expected_.value[i], bound(i))) continue;
            differences.add(i, detail::is_fresh(got[i]));
            if (differences.shows_more())
                differences.show(detail::format(expected_.value[i], sizeof(T) <= 4), detail::to_text(got[i]), bound(i));
        }
        return differences;
    }
    [[nodiscard]] double bound(std::size_t i) const {
        return expected_.bound.size() == 1 ? expected_.bound[0] : expected_.bound.at(i);
    }
    static bool is_near(double got, double expected, double bound) {
        if (std::isnan(expected)) return std::isnan(got);
        if (std::isinf(expected) || std::isinf(got)) return got == expected;
        return std::abs(got - expected) <= bound;  // false for a NaN
    }
    Expected expected_;
};

// Each element must be within its bound, or the single bound for all; NaN and infinities must be where they are
// expected.
inline Near near(Expected expected) { return Near(std::move(expected)); }

template <class T>
class EqualsExactly : public Shaped<EqualsExactly<T>> {
  public:
    explicit EqualsExactly(std::vector<T> expected) : expected_(std::move(expected)) {}

    bool match(const std::vector<T>& got) const {
        if (got.size() != expected_.size()) {
            detail::size_mismatch(expected_.size(), got.size());
            return false;
        }
        return detail::is_as_expected(got, detail::as_doubles(expected_),
                                      [&](const std::vector<T>& each) { return compare(each); });
    }
    bool match(const T& got) const { return match(std::vector<T>{got}); }

    [[nodiscard]] std::string toString() const { return "equals the expected values"; }

  private:
    detail::Differences compare(const std::vector<T>& got) const {
        detail::Differences differences(this->rows_, this->columns_, detail::digits<T>);
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (got[i] == expected_[i] || (got[i] != got[i] && expected_[i] != expected_[i])) continue;
            differences.add(i, detail::is_fresh(got[i]));
            if (differences.shows_more()) differences.show(detail::to_text(expected_[i]), detail::to_text(got[i]), 0);
        }
        return differences;
    }
    std::vector<T> expected_;
};

// Every element equal (two NaNs count as equal).
template <class T>
EqualsExactly<T> equals_exactly(std::vector<T> expected) {
    return EqualsExactly<T>(std::move(expected));
}

}  // namespace warpgrade::judge
