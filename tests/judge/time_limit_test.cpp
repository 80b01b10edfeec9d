// Processor time counts, and the wall clock ends a program that only waits.
#include "judge/time_limit.hpp"

#include "judge/judged.hpp"
#include "support/approx.hpp"

using warpgrade::judge::Clock;
using warpgrade::judge::TimeLimit;

namespace {

constexpr double hour = 3600;

double hours_until(Clock::time_point then) { return std::chrono::duration<double>(then - Clock::now()).count() / hour; }

}  // namespace

TEST_CASE("nothing is over before the wall clock has reached the limit") {
    TimeLimit limit(hour);
    CHECK(hours_until(limit.deadline()) == Approx(1).margin(0.01));
    CHECK(hours_until(limit.last()) == Approx(3).margin(0.01));
    CHECK_FALSE(limit.is_over(2 * hour));  // of several threads
    CHECK(hours_until(limit.deadline()) == Approx(1).margin(0.01));
}

TEST_CASE("what earlier calls have used is no longer there") {
    const TimeLimit limit(hour, hour / 4);
    CHECK(hours_until(limit.deadline()) == Approx(0.75).margin(0.01));
    CHECK(hours_until(limit.last()) == Approx(2.75).margin(0.01));
}

TEST_CASE("at the limit, a program that has had less of the processor goes on for what is left") {
    TimeLimit limit(hour, hour);
    SECTION("all is used") { CHECK(limit.is_over(hour)); }
    SECTION("half of it is left") {
        CHECK_FALSE(limit.is_over(hour / 2));
        CHECK(hours_until(limit.deadline()) == Approx(0.5).margin(0.01));
        CHECK_FALSE(limit.is_over(hour));  // it is asked again at the deadline only
    }
    SECTION("it is never asked all the time") {
        CHECK_FALSE(limit.is_over(hour - 1e-9));
        CHECK(limit.deadline() > Clock::now());
    }
}

TEST_CASE("a program that only waits ends by the wall clock") {
    TimeLimit limit(hour, 3 * hour);
    CHECK(limit.is_over(0));
    TimeLimit soon(hour, 2.5 * hour);
    CHECK_FALSE(soon.is_over(0));
    CHECK(soon.deadline() == soon.last());
}

TEST_CASE("time in which a program stood still is not its own") {
    TimeLimit limit(hour, 3 * hour);
    limit.add(std::chrono::hours(2));
    CHECK(hours_until(limit.deadline()) == Approx(2).margin(0.01));
    CHECK(hours_until(limit.last()) == Approx(2).margin(0.01));
    CHECK_FALSE(limit.is_over(hour));
}

TEST_CASE("a program that waits for longer than its limit, on a busy machine say, is not stopped at once") {
    const std::string only = " --test 'scales, with commas and [brackets]'";
    CHECK(judge("waits", "--seconds 1" + only).scales()["status"] == "pass");
    CHECK(judge("waits", "--seconds 0.4" + only).message().starts_with("scale did not finish within 0.4 s"));
}
