#include "judge/questions.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "judge/catch.hpp"

using namespace warpgrade::judge;

TEST_CASE("a wrong answer is told what leads to it, if that is known") {
    const auto reason = [](auto answer) {
        const char* const known = reason_of(answer, {{1, "a line is four sectors"}, {0.5, "inverted"}});
        return std::string(known ? known : "");
    };
    CHECK(reason(1) == "a line is four sectors");
    CHECK(reason(1LL) == "a line is four sectors");
    CHECK(reason(0.5) == "inverted");
    CHECK(reason(4).empty());
    CHECK(reason(std::nan("")).empty());
}

TEST_CASE("whole numbers are right exactly, doubles but for a few roundings") {
    CHECK(is_right(4, 4));
    CHECK(!is_right(4, 5));
    CHECK(is_right(0.1 + 0.2, 0.3));
    CHECK(!is_right(0.3 + 1e-14, 0.3));
    CHECK(!is_right(std::nan(""), 0.3));
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(is_right(infinity, infinity));
    CHECK(!is_right(-infinity, infinity));
    CHECK(!is_right(5.0, infinity));
    CHECK(!is_right(infinity, 5.0));
}
