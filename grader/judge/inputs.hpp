// Random inputs of a test, from the test's own stream: different in every run, repeatable with the printed seed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "judge/random.hpp"

namespace warpgrade::judge {

RandomStream& stream();  // of the running test
std::uint64_t seed();    // of this run of the judge

// The bytes of a file in the lab's folder data/. Throws InfrastructureError if it is missing.
std::vector<std::byte> data_file(const std::string& name);

namespace detail {
// Sizes are often products of ints; a negative one is a mistake in the test.
template <std::integral N>
std::size_t size_of(N n) {
    if constexpr (std::is_signed_v<N>) {
        if (n < 0) throw std::invalid_argument("a test asks for a negative number of elements");
    }
    return static_cast<std::size_t>(n);
}
}  // namespace detail

// n floats, evenly spread over [low, high).
template <std::integral N>
std::vector<float> uniform(N n, double low = -1, double high = 1) {
    std::vector<float> values(detail::size_of(n));
    auto& random = stream();
    for (auto& value : values) {
        // Rounding to float may reach `high` itself.
        do value = static_cast<float>(low + (high - low) * random.unit24());
        while (value >= static_cast<float>(high) && low < high);
    }
    return values;
}

template <std::integral N>
std::vector<double> uniform_double(N n, double low = -1, double high = 1) {
    std::vector<double> values(detail::size_of(n));
    auto& random = stream();
    for (auto& value : values) value = low + (high - low) * random.unit53();
    return values;
}

// n whole numbers in [low, high], both included; T may be a floating type that holds them exactly.
template <class T, std::integral N>
std::vector<T> integers(N n, std::int64_t low, std::int64_t high) {
    if (low > high) throw std::invalid_argument("integers: low is above high");
    std::vector<T> values(detail::size_of(n));
    const Bound count(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1);  // 0: all 2^64
    auto& random = stream();
    for (auto& value : values)
        value = static_cast<T>(static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + random.below(count)));
    return values;
}

// The numbers 0 … n-1 in random order.
template <class T = int, std::integral N>
std::vector<T> permutation(N n) {
    std::vector<T> values(detail::size_of(n));
    std::iota(values.begin(), values.end(), T{0});
    auto& random = stream();
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
    return values;
}

}  // namespace warpgrade::judge
