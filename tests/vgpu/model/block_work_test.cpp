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
            for (std::uint64_t i = 0; i < blocks; ++i) spread.add(block_of(3, {77, 3, 10 * 13}));
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
        spread.add(block_of(8, i == 37 ? WarpWork{1'000'000, 0, 1'000'000} : WarpWork{1, 0, 0}));
    CHECK(spread.busiest_issue() > 0.99);
    CHECK(spread.busiest_l1() == 1);
    CHECK(spread.longest_warp() > 99);
}

TEST_CASE("one warp that does all among idle ones of its block is as long as all of them") {
    WorkSpread spread(4);
    for (int i = 0; i < 100; ++i) {
        BlockWork block = block_of(31, {});
        block.add({1000, 0, 1000});
        spread.add(block);
    }
    CHECK(spread.busiest_issue() == 0.25);
    CHECK(spread.longest_warp() == 32);
}

TEST_CASE("a block goes to the multiprocessor that has least to do, not to one by its index") {
    WorkSpread spread(4);
    for (int i = 0; i < 64; ++i) spread.add(block_of(4, i % 4 == 0 ? WarpWork{1000, 10, 1000} : WarpWork{1, 0, 1}));
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
