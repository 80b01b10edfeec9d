// Hidden tests of lab histogram: sizes around warps, blocks and vectors, every number of bins, skewed and empty data.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "histogram.h"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

namespace {

// Calls check.template operator()<version>(most bins) for each version.
template <class Check>
void for_each_version(const Check& check) {
    SECTION("histogram_global") { check.template operator()<histogram_global>(MOST_BINS); }
    SECTION("histogram_shared") { check.template operator()<histogram_shared>(MOST_BINS); }
    SECTION("histogram_strided") { check.template operator()<histogram_strided>(MOST_BINS); }
    SECTION("histogram_match") { check.template operator()<histogram_match>(MOST_BINS); }
    SECTION("histogram_few") { check.template operator()<histogram_few>(FEW_BINS); }
}

}  // namespace

TEST_CASE("every version takes sizes around its blocks", "[hidden][checks]") {
    for_each_version([]<auto version>(int most) {
        for (const int n : {1, 2, 15, 16, 17, 31, 33, 63, 255, 256, 257, 511, 4095, 4096, 4097, 4111, 10007})
            check_counts<version>(spread(n, std::min(most, 100)), std::min(most, 100));
    });
}

TEST_CASE("every version takes every number of bins", "[hidden][checks]") {
    for_each_version([]<auto version>(int most) {
        for (const int bins : {1, 2, 3, 4, 5, 8, 31, 33, 128, 129, 255, 256}) {
            if (bins <= most) check_counts<version>(spread(3001, bins), bins);
        }
    });
}

// A single value, and one that most have; values of which none has a bin, and the last of the bins.
TEST_CASE("every version takes skewed data", "[hidden]") {
    for_each_version([]<auto version>(int most) {
        check_counts<version>(Data(5000, static_cast<unsigned char>(most - 1)), most);
        check_counts<version>(skewed(20011, most), most);
        if (most < MOST_BINS) check_counts<version>(integers<unsigned char>(777, most, 255), most);
        auto data = spread(1000, 3);
        data.insert(data.end(), 100, static_cast<unsigned char>(255));
        check_counts<version>(data, 4);
    });
}

TEST_CASE("contention takes other data", "[hidden]") {
    for (const int n : {1, 31, 32, 33, 64, 257, 1000}) profile_contention(skewed(n, 256));
    profile_contention(Data(301, 255));
    profile_contention(Data(301, 0));
    profile_contention(all_in(4096, 4));
}

TEST_CASE("empty arrays and impossible bins launch nothing", "[hidden]") {
    for_each_version([]<auto version>(int most) {
        check_counts<version>(spread(100, most), most);
        const auto data = spread(100, most);
        for (const int n : {0, -1}) {
            INFO("n = " << n);
            const auto run = submission().profile<version>(in(data), out<int>(most), n, most);
            const auto& counts = run.output;
            CHECK_THAT(counts, equals_exactly(std::vector<int>(static_cast<std::size_t>(most))));
            CHECK_THAT(launches(run), is(0));
        }
        for (const int bins : {0, -3, most + 1}) {
            INFO("bins = " << bins);
            const auto before = integers<int>(most + 1, 1, 1000);
            const auto run = submission().profile<version>(in(data), inout(before), 100, bins);
            const auto& counts = run.output;
            CHECK_THAT(counts, equals_exactly(before));
            CHECK_THAT(launches(run), is(0));
        }
    });
}
