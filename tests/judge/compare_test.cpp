#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "judge/compare.hpp"
#include "judge/context.hpp"
#include "judge/inputs.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

std::string mismatch() { return std::exchange(context().mismatch, {}); }

}  // namespace

TEST_CASE("near accepts what lies within the bound, and nothing else") {
    CHECK(near({{1, 2}, {0.5, 0}}).match(std::vector<float>{1.5f, 2.0f}));
    CHECK_FALSE(near({{1, 2}, {0.5, 0}}).match(std::vector<float>{1.6f, 2.0f}));
    CHECK_FALSE(near({{1}, {0.5}}).match(std::vector<float>{NAN}));
    CHECK_FALSE(near({{1}, {infinity}}).match(std::vector<float>{INFINITY}));
    CHECK(near({{infinity, -infinity, not_a_number}, {0}}).match(std::vector<float>{INFINITY, -INFINITY, NAN}));
    CHECK_FALSE(near({{infinity}, {1}}).match(std::vector<float>{-INFINITY}));
    CHECK_FALSE(near({{1, 2}, {1}}).match(std::vector<float>{1}));
    CHECK(near({{3}, {0.1}}).match(3.05));
}

TEST_CASE("messages name the first elements that differ") {
    std::vector<double> expected(12, 1.0);
    std::vector<float> got(12, 1.0f);
    got[6] = 2.5f;
    CHECK_FALSE(near({expected, {1e-6}}).shape(3, 4).match(got));
    CHECK(mismatch() == "1 of 12 elements is wrong (3 × 4)\n  [row 1, column 2] expected 1, got 2.5 (tolerance 1e-06)");
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = 2.0f + static_cast<float>(i * i);
    CHECK_FALSE(near({expected, {1e-6}}).match(got));
    const auto text = mismatch();
    CHECK_THAT(text, Contains("12 of 12 elements are wrong") && Contains("[4] expected 1, got 18") && Contains("…"));
    CHECK_THAT(text, !Contains("[5]"));
    CHECK_FALSE(equals_exactly(std::vector<int>{1, 2}).match({1, 3}));
    CHECK(mismatch() == "1 of 2 elements is wrong: the last\n  [1] expected 2, got 3");
    CHECK_FALSE(equals_exactly(std::vector<int>{1, 2}).match({1}));
    CHECK(mismatch() == "expected 2 elements, got 1");
}

TEST_CASE("equals_exactly tells the last bit apart") {
    CHECK(equals_exactly(std::vector<float>{0.1f, NAN}).match({0.1f, NAN}));
    CHECK_FALSE(equals_exactly(std::vector<float>{0.1f}).match({std::nextafter(0.1f, 1.0f)}));
}

// The bound of a dot product: any order and FMA pass, operands in half precision do not.
TEST_CASE("dot_bound lets single precision pass and half precision fail") {
    RandomStream random(1, "dot_bound");
    const auto to_half = [](float value) {  // 11 significant bits
        int exponent;
        const float mantissa = std::frexp(value, &exponent);
        return std::ldexp(std::nearbyint(mantissa * 2048.0f) / 2048.0f, exponent);
    };
    for (const int k : {1, 16, 64, 256}) {
        int half_failures = 0;
        for (int trial = 0; trial < 200; ++trial) {
            std::vector<float> a(k), b(k);
            for (auto* values : {&a, &b})
                for (auto& value : *values) value = static_cast<float>(2 * random.unit24() - 1);
            double exact = 0, magnitude = 0;
            float forward = 0, backward = 0, fused = 0, half = 0;
            for (int i = 0; i < k; ++i) {
                exact += double{a[i]} * b[i];
                magnitude += std::abs(double{a[i]} * b[i]);
                forward += a[i] * b[i];
                backward += a[k - 1 - i] * b[k - 1 - i];
                fused = std::fma(a[i], b[i], fused);
                half += to_half(a[i]) * to_half(b[i]);
            }
            const double bound = dot_bound(k, magnitude);
            for (const float sum : {forward, backward, fused}) REQUIRE(std::abs(sum - exact) <= bound);
            half_failures += std::abs(half - exact) > bound;
        }
        CHECK(half_failures > 50);
    }
}

namespace {

template <class T>
std::vector<T> awkward() {
    if constexpr (std::is_floating_point_v<T>) {
        using limits = std::numeric_limits<T>;
        return {0,
                -T{},
                1,
                limits::denorm_min(),
                limits::max(),
                -limits::max(),
                limits::infinity(),
                -limits::infinity(),
                limits::quiet_NaN()};
    } else {
        return {0, 1, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    }
}

// Values of all kinds, alone and mixed, as the result and as the expected values.
template <class T>
void compare_awkward() {
    std::vector<std::vector<T>> arrays{{}};
    const auto values = awkward<T>();
    for (const T value : values) {
        arrays.emplace_back(1, value);
        arrays.emplace_back(64, value);
        arrays.emplace_back(64, T{2}).back() = value;
    }
    arrays.emplace_back();
    for (std::size_t i = 0; i < 64; ++i) arrays.back().push_back(values[i % values.size()]);
    for (const auto& right : arrays) {
        for (const auto& got : arrays) {
            const bool is_same = right.size() == got.size() &&
                                 std::ranges::equal(right, got, [](T a, T b) { return a == b || (a != a && b != b); });
            for (const std::size_t columns : {0, 8, 5}) {
                CHECK(equals_exactly(right).shape(8, columns).match(got) == is_same);
                CHECK(mismatch().empty() == is_same);
                const std::vector<double> value(right.begin(), right.end());
                for (const double bound : {0.0, infinity, not_a_number}) {
                    const bool is_near = near({value, {bound}}).shape(8, columns).match(got);
                    CHECK(mismatch().empty() == is_near);
                    if (bound == 0 && std::is_same_v<T, float>) CHECK(is_near == is_same);
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("no result makes a matcher throw") {
    mismatch();  // of another test
    compare_awkward<float>();
    compare_awkward<double>();
    compare_awkward<int>();
    compare_awkward<unsigned char>();
    compare_awkward<long long>();
}
