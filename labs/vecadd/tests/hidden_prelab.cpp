// Hidden tests of lab vecadd's prelab: the questions with other numbers.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "vecadd.h"

using namespace warpgrade::judge;

TEST_CASE("prelab: other ratios and bytes", "[hidden]") {
    ask<operations_per_access>(10.0, {}, 100.0, 10.0);
    ask<operations_per_access>(0.75, {}, 3.0, 4.0);
    ask<gflops>(375.0, {}, 150.0, 10.0);
    const double bandwidth = integers<double>(1, 100, 4000)[0], ratio = integers<double>(1, 1, 64)[0] / 8;
    ask<gflops>(bandwidth * ratio / 4, {}, bandwidth, ratio);
    for (const int launches : {1, 2, 100}) ask_bytes(8 * integers<int>(1, 100, 1000)[0], launches);
    ask<bytes_with_copies>(12.0 * (1LL << 30), {}, 1LL << 30, 3);
    ask<bytes_mapped>(36.0 * (1LL << 30), {}, 1LL << 30, 3);
}

TEST_CASE("prelab: other times", "[hidden]") {
    struct Case {
        double to_device, kernel, to_host;
    };
    for (const auto& [to_device, kernel, to_host] : {Case{200, 100, 100}, Case{10, 500, 5}, Case{30, 40, 300}}) {
        for (const int streams : {1, 2, 16}) {
            INFO("to_device = " << to_device << ", kernel = " << kernel << ", to_host = " << to_host
                                << ", streams = " << streams);
            const double right = pipelined(to_device, kernel, to_host, streams);
            const double predicted = submission().call<streams_time>(to_device, kernel, to_host, streams);
            CHECK_THAT(measure("predicted time", predicted, "µs"), between(0.75 * right, 1.25 * right));
        }
    }
}
