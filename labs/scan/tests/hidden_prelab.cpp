// Hidden tests of lab scan's prelab: other sizes. Steps and additions are counted, not computed.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "scan.h"

using namespace warpgrade::judge;

namespace {

struct Cost {
    int steps = 0;
    long long additions = 0;
};

Cost counted_simple(int n) {
    Cost cost;
    for (long long distance = 1; distance < n; distance *= 2, ++cost.steps)
        for (int i = 0; i < n; ++i) cost.additions += i >= distance;
    return cost;
}

Cost counted_tree(int n) {
    Cost cost;
    for (int distance = 1; distance < n; distance *= 2, cost.steps += 2)
        for (int last = 2 * distance - 1; last < n; last += 2 * distance) cost.additions += 2;  // up and down
    return cost;
}

}  // namespace

TEST_CASE("prelab: other sizes of the two scans", "[hidden]") {
    for (const int n : {1, 2, 3, 32, 33, 1000, 1 << 20}) {
        ask<simple_steps>(counted_simple(n).steps, {}, n);
        ask<simple_additions>(counted_simple(n).additions, {}, n);
    }
    ask<simple_additions>((1LL << 30) * 30 - ((1LL << 30) - 1), {}, 1 << 30);  // more than an int holds
    for (const int n : {2, 32, 1024, 1 << 20}) {
        ask<tree_steps>(counted_tree(n).steps, {}, n);
        ask<tree_additions>(counted_tree(n).additions, {}, n);
    }
}

TEST_CASE("prelab: other arrays", "[hidden]") {
    check_predicted_block_scan(BLOCK_SIZE, 17);
    check_predicted_block_scan(10 * BLOCK_SIZE, 10 * 17);
    check_predicted_scan(4096, 3, 4 * 512);
    check_predicted_scan(70000, 5, 4 * 8750);
    for (const int n : {1, 256}) ask<scan_launches>(1, {}, n);
    for (const int n : {257, 1 << 16}) ask<scan_launches>(3, {}, n);
    for (const int n : {(1 << 16) + 1, 1 << 24}) ask<scan_launches>(5, {}, n);
    ask<scan_launches>(7, {}, (1 << 24) + 1);
}
