// Hidden tests of lab scan's prelab: other sizes.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "scan.h"

using namespace warpgrade::judge;

TEST_CASE("prelab: other sizes of the two scans", "[hidden]") {
    for (const int n : {1, 2, 3, 32, 33, 1000, 1 << 20}) ask_simple(n);
    ask<simple_additions>((1LL << 30) * 30 - ((1LL << 30) - 1), {}, 1 << 30);  // more than an int holds
    for (const int n : {2, 32, 1024, 1 << 20}) ask_tree(n);
}

TEST_CASE("prelab: other arrays", "[hidden]") {
    check_predicted_block_scan(25 * BLOCK_SIZE, 25 * 17);
    check_predicted_block_scan(41 * BLOCK_SIZE, 41 * 17);
    check_predicted_scan(48'000, 3, 4 * 6000);
    check_predicted_scan(70000, 5, 4 * 8750);
    for (const int n : {1, 256}) ask<scan_launches>(1, {}, n);
    for (const int n : {257, 1 << 16}) ask<scan_launches>(3, {}, n);
    for (const int n : {(1 << 16) + 1, 1 << 24}) ask<scan_launches>(5, {}, n);
    ask<scan_launches>(7, {}, (1 << 24) + 1);
}
