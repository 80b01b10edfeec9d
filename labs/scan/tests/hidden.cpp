// Hidden tests of lab scan: where the array ends, other lanes and distances, awkward numbers, long arrays, and none.
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "scan.h"

using namespace warpgrade::judge;

namespace {

// Around warps and blocks.
const std::vector<int> edge_sizes{1, 2, 31, 33, 63, 100, 255, 257, 513, 1025};

// Nothing is launched for these arguments. (What the array then holds, nobody fills: it stays as it was.)
template <auto function, class... Arguments>
void check_refused(int n, Arguments... arguments) {
    const std::vector<int> x = for_scans(64);
    INFO("n = " << n);
    const auto run = submission().profile<function>(in(x), out<int>(64), n, arguments...);
    CHECK_THAT(launches(run), is(0));
}

}  // namespace

// The last warp may be short: whoever counts the missing elements as zeros spoils vote_all.
TEST_CASE("votes count what the array holds", "[hidden]") {
    for (const int n : edge_sizes) {
        auto x = for_votes(n);
        check_vote_all(x);
        check_vote_any(x);
        check_vote_rank(x);
        // The last warp once without a zero, once with nothing else.
        for (int i = (n - 1) / 32 * 32; i < n; ++i) x[i] = 7;
        check_vote_all(x);
        check_vote_rank(x);
        for (int i = (n - 1) / 32 * 32; i < n; ++i) x[i] = 0;
        check_vote_any(x);
    }
}

// Whatever differs from zero counts: negative numbers, and such as have no bit in their lower half.
TEST_CASE("votes take every number that is not zero", "[hidden]") {
    const int n = 320;
    auto x = for_votes(n);
    const std::vector<int> awkward{-1, 2, 256, 65536, 1 << 30, std::numeric_limits<int>::min(), -65536};
    for (int i = 0; i < n; ++i) {
        if (x[i] != 0) x[i] = awkward[i % awkward.size()];
    }
    check_vote_all(x);
    check_vote_any(x);
    check_vote_rank(x);
}

TEST_CASE("shuffles stay in the array", "[hidden]") {
    for (const int n : edge_sizes) {
        const auto x = for_shuffles(n);
        check_shuffle_broadcast(x, 17, 32);
        check_shuffle_broadcast(x, 2, 4);
        check_shuffle_up(x, 5, 32);
        check_shuffle_down(x, 5, 32);
        check_shuffle_down(x, 1, 16);
        check_shuffle_xor(x, 3);
        check_shuffle_xor(x, 20);
    }
}

TEST_CASE("shuffles take every distance and width", "[hidden][checks]") {
    const auto x = for_shuffles(96);
    for (const int width : {1, 2, 4, 8, 16, 32}) {
        for (const int delta : {0, 1, 2, 6, 15, 31}) {
            check_shuffle_up(x, delta, width);
            check_shuffle_down(x, delta, width);
            if (delta < width) check_shuffle_broadcast(x, delta, width);
        }
    }
    for (const int mask : {0, 2, 5, 8, 15, 30}) check_shuffle_xor(x, mask);
}

TEST_CASE("scans take sizes around warps and blocks", "[hidden][checks]") {
    for (const int n : edge_sizes) {
        const auto x = for_scans(n);
        check_warp_scan(x);
        check_warp_offsets(x);
        check_block_scan(x);
        check_add_block_sums(x, for_scans((n - 1) / BLOCK_SIZE + 1));
        check_scan(x);
    }
}

// Up and down by nearly 2^30: neighbours cancel but for their last digits, so that all sums stay near 0 or 2^30. A
// float has 24 bits, and loses these digits.
TEST_CASE("scans add large numbers exactly", "[hidden]") {
    auto x = integers<int>(700, 0, 1000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i % 2 == 0 ? 1 : -1) * ((1 << 30) - x[i]);
    check_warp_scan(x);
    check_block_scan(x);
    check_scan(x);
}

// More than 256 · 256 elements: the sums of their blocks are more than one block takes.
TEST_CASE("scan takes long arrays", "[hidden]") { check_scan(for_scans(GENERATE(65536, 65793, 200001))); }

TEST_CASE("empty arrays and impossible lanes launch nothing", "[hidden]") {
    for (const int n : {0, -1, -100}) {
        check_refused<vote_all>(n);
        check_refused<vote_any>(n);
        check_refused<vote_rank>(n);
        check_refused<shuffle_broadcast>(n, 0, 32);
        check_refused<shuffle_up>(n, 1, 32);
        check_refused<shuffle_down>(n, 1, 32);
        check_refused<shuffle_xor>(n, 1);
        check_refused<warp_scan>(n);
        check_refused<warp_offsets>(n);
        check_refused<block_scan>(n);
        check_refused<scan>(n);
    }
    for (const auto& [number, width] :
         std::vector<std::pair<int, int>>{{1, 0}, {1, 3}, {1, 64}, {1, -8}, {-1, 32}, {32, 32}}) {
        INFO("lane or delta = " << number << ", width = " << width);
        check_refused<shuffle_broadcast>(64, number, width);
        check_refused<shuffle_up>(64, number, width);
        check_refused<shuffle_down>(64, number, width);
    }
    check_refused<shuffle_broadcast>(64, 8, 8);
    check_refused<shuffle_xor>(64, -1);
    check_refused<shuffle_xor>(64, 32);
    // And something else is done.
    check_vote_any(for_votes(64));
    check_shuffle_up(for_shuffles(64), 1, 32);
    check_block_scan(for_scans(512));
}
