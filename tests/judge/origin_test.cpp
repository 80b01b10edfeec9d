// What a student reads when a result is not the device's: true for beginners' mistakes, too.
#include <cstring>

#include "judge/judged.hpp"
#include "judge/origin.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;
using Problem = device::OriginVerdict::Problem;

namespace {

const CallSpec spec{"scale",
                    {{wire::Kind::in, wire::Type::f32, 0, {}, 3}, {wire::Kind::out, wire::Type::f32, 0, {}, 3}},
                    wire::Type::none,
                    {"x", "y"}};

std::vector<std::byte> bytes_of(std::vector<float> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// Of element 2 of y, which is 2.5.
std::string told(Problem problem, bool mapped = false) {
    device::OriginVerdict verdict;
    verdict.problem = problem;
    verdict.argument = 1;
    verdict.element = verdict.elsewhere = 2;
    verdict.bytes = 400;
    verdict.came = bytes_of({7.25f});
    verdict.mapped = mapped;
    return explain_origin(verdict, spec, {{bytes_of({0.5f, 1.5f, 2.5f})}, {}}, 0);
}

}  // namespace

TEST_CASE("origin's messages name the element, its value and what became of it") {
    CHECK(told(Problem::none).empty());
    CHECK_THAT(told(Problem::nothing_came),
               Contains("y[2] (2.5) did not come from the device: nothing was copied back"));
    CHECK_THAT(told(Problem::changed), Contains("the device sent 7.25, the function returned 2.5"));
    CHECK_THAT(told(Problem::moved), Contains("y[2] was moved by host code"));
    CHECK_THAT(told(Problem::went_up), Contains("400 bytes") && Contains("the first of them: 7.25"));
}

TEST_CASE("origin's messages hold for those who copied the wrong array") {
    // Who copies from an array of the host that the device never filled has computed nothing.
    CHECK_THAT(told(Problem::not_found), Contains("or took it from an array into which nothing was copied"));
    // Who copies the input back.
    CHECK_THAT(told(Problem::host_wrote),
               Contains("y[2] (2.5) came back as host code had sent it") &&
                   Contains("Is the right array copied back, and did the kernel run and write to it?") &&
                   !Contains("computed"));
    CHECK_THAT(told(Problem::host_wrote, true),
               Contains("had written it") && Contains("Does host code read the right array"));
}

TEST_CASE("a CUDA call that failed stands before the origin that it explains") {
    const auto judged = ::judge("correct", "--device-server " WG_FAKE_DEVICE " --device fake:failed_launch");
    INFO(judged.output);
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains("a CUDA call failed: launch: 4096 threads in a block"));
    CHECK_THAT(judged.message(), Contains("did not come from the device"));
    CHECK(judged.message().find("a CUDA call") < judged.message().find("did not come"));
    CHECK_THAT(judged.message(), !Contains("note: launch:"));
}
