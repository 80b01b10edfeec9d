#include <cmath>
#include <limits>

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
