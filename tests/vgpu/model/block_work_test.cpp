#include "vgpu/model/block_work.hpp"

#include "judge/catch.hpp"

using warpgrade::vgpu::BlockWork;
using warpgrade::vgpu::WarpWork;
using warpgrade::vgpu::WorkSpread;

namespace {

BlockWork block_of(std::uint64_t warps, const WarpWork& each) {
    BlockWork block;
    for (std::uint64_t i = 0; i < warps; ++i) block.add(each);
    return block;
}

}  // namespace

TEST_CASE("of blocks that are alike, the multiprocessor with most of them is the busiest") {
    for (const std::uint32_t multiprocessors : {1u, 4u, 7u, 132u})
        for (const std::uint64_t blocks : {1u, 3u, 4u, 5u, 132u, 1000u}) {
            CAPTURE(multiprocessors, blocks);
            WorkSpread spread(multiprocessors);
            for (std::uint64_t i = 0; i < blocks; ++i) {
                BlockWork block = block_of(3, {800, 10 * 13, 77});
                block.instructions = 3 * 77;
                spread.add(block);
            }
            const auto most = (blocks + multiprocessors - 1) / multiprocessors;
            const double part = static_cast<double>(most) / static_cast<double>(blocks);
            CHECK(spread.busiest_issue() == part);  // to the last bit: times must not change
            CHECK(spread.busiest_l1() == part);
            CHECK(spread.longest_warp() == 1);
            CHECK(spread.most_instructions() == 3 * 77);
        }
}

TEST_CASE("one block that does all among idle ones keeps one multiprocessor busy") {
    WorkSpread spread(4);
    for (int i = 0; i < 100; ++i)
        spread.add(block_of(8, i == 37 ? WarpWork{8'000'000, 1'000'000, 1'000'000} : WarpWork{8, 0, 1}));
    CHECK(spread.busiest_issue() > 0.99);
    CHECK(spread.busiest_l1() == 1);
    CHECK(spread.longest_warp() > 99);
}

TEST_CASE("one warp that does all among idle ones of its block is as long as all of them") {
    WorkSpread spread(4);
    for (int i = 0; i < 100; ++i) {
        BlockWork block = block_of(31, {});
        block.add({8000, 1000, 1000});
        spread.add(block);
    }
    CHECK(spread.busiest_issue() == 0.25);
    CHECK(spread.longest_warp() == 32);
}

TEST_CASE("a block goes to the multiprocessor that has least to do, not to one by its index") {
    WorkSpread spread(4);
    for (int i = 0; i < 64; ++i) spread.add(block_of(4, i % 4 == 0 ? WarpWork{9000, 1000, 1000} : WarpWork{8, 1, 1}));
    CHECK(spread.busiest_issue() < 0.26);
    CHECK(spread.busiest_l1() < 0.26);
    CHECK(spread.longest_warp() > 3.9);
}

TEST_CASE("blocks that do nothing, or none at all, give no number that is not one") {
    WorkSpread spread(0);
    CHECK(spread.busiest_issue() == 0);
    CHECK(spread.longest_warp() == 0);
    spread.add(block_of(2, {}));
    CHECK(spread.busiest_l1() == 0);
    CHECK(spread.longest_warp() == 0);
}

TEST_CASE(
    "what a warp gives its multiprocessor: issue slots in tenths, and four times the tenths of cycles of its memory") {
    using namespace warpgrade::vgpu;
    CHECK(WarpWork{80, 7, 1000}.cost() == 80 + 28);
    WarpWork sum{1, 2, 3};
    sum += {10, 20, 30};
    CHECK((sum.issue_tenths == 11 && sum.l1_tenths == 22 && sum.time == 33));
    CHECK((WarpWork{}.cost() == 0 && BlockWork{}.warps == 0 && BlockWork{}.longest_warp == 0));
    // The load/store pipe: a request for four sectors, and the cost of each further sector.
    CHECK((l1_tenths::load_request == 12 && l1_tenths::store_request == 10 && l1_tenths::wavefront == 10));
    CHECK((l1_tenths::atomic_request == 20 && l1_tenths::atomic_sector == 10));
    CHECK(l1_tenths::of_sectors(16, 1) == 16);
    CHECK(l1_tenths::of_sectors(16, 4) == 16);
    CHECK(l1_tenths::of_sectors(16, 5) == 20);
    CHECK(l1_tenths::of_sectors(10, 32) == 10 + 28 * 4);
}
