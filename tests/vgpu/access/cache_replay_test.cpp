// What blocks did is handed over in runs, by several host threads and in any order, and counts as block after block.
#include <algorithm>
#include <atomic>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/access/cache_replay.hpp"

using namespace warpgrade::vgpu;

namespace {

using Kind = LineRequest::Kind;

constexpr std::uint64_t l2_bytes = 1 << 20, lines = 2 * l2_bytes / line_bytes;
constexpr std::size_t slots = 3;
constexpr std::uint64_t block_count = 900;
constexpr Multiprocessors multiprocessors{5, 3, 64 * 1024, block_count};  // all are sampled

struct Block {
    std::vector<LineRequest> misses;
    BlockWork work;
};

BlockRun make_run(std::uint64_t first, std::span<const Block> blocks, const L2Sets& sets) {
    BlockRun run;
    for (const Block& block : blocks) {
        std::vector<LineRequest> misses = block.misses;
        run.add(first++, misses, block.work, sets, true);
    }
    return run;
}

std::vector<Block> random_blocks() {
    std::mt19937 random(7);
    std::vector<Block> blocks(block_count);
    for (Block& block : blocks) {
        // So many that the first multiprocessor has enough of them before its last block.
        const bool many = (&block - blocks.data()) % 100 == 0;
        for (auto misses = random() % (many ? 20'000 : 400); misses > 0; --misses)
            block.misses.push_back(LineRequest::of(random() % lines, 1 + random() % 15, static_cast<Kind>(random() % 5),
                                                   static_cast<std::uint16_t>(random() % slots)));
        block.work.add({.issue_tenths = random() % 1000});
        block.work.instructions = random() % 1000;
    }
    return blocks;
}

// Runs of one to five blocks. More than may wait, and with so many misses that they do: to make them is less work.
std::vector<BlockRun> random_runs(const L2Sets& sets) {
    std::mt19937 random(8);
    const std::vector<Block> blocks = random_blocks();
    std::vector<BlockRun> runs;
    for (std::size_t first = 0, count = 0; first < blocks.size(); first += count) {
        count = std::min<std::size_t>(1 + random() % 5, blocks.size() - first);
        runs.push_back(make_run(first, std::span(blocks).subspan(first, count), sets));
        runs.back().lost_reads = 3;
    }
    return runs;
}

// All that a launch counts.
std::vector<double> counted(CacheReplay& replay) {
    std::vector<double> all;
    const auto add = [&](const CacheStats& s) {
        for (const auto count :
             {s.l2_reads, s.l2_read_hits, s.l2_writes, s.dram_reads, s.dram_writes, s.fetched_sectors})
            all.push_back(static_cast<double>(count));
    };
    for (std::size_t slot = 0; slot < slots; ++slot) {
        add(replay.stats(slot));
        const SharedL1::Found found = replay.shared_l1().found(slot);
        all.push_back(static_cast<double>(found.asked));
        all.push_back(static_cast<double>(found.found));
    }
    add(replay.lost());
    all.push_back(static_cast<double>(replay.spread().most_instructions()));
    all.push_back(replay.spread().busiest_issue());
    return all;
}

std::vector<double> in_order() {
    CacheReplay replay(l2_bytes, slots, multiprocessors);
    for (BlockRun& run : random_runs(replay.sets())) replay.finish(run);
    return counted(replay);
}

}  // namespace

TEST_CASE("a run counts as its blocks one by one") {
    CacheReplay replay(l2_bytes, slots, multiprocessors);
    const std::vector<Block> blocks = random_blocks();
    const std::size_t runs = random_runs(replay.sets()).size();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        BlockRun one = make_run(i, {&blocks[i], 1}, replay.sets());
        one.lost_reads = i < runs ? 3 : 0;
        replay.finish(one);
        CHECK((one.blocks.empty() && one.misses() == 0 && one.lost_reads == 0));
    }
    CHECK(counted(replay) == in_order());
}

TEST_CASE("runs of several host threads count in the order of their blocks") {
    const std::vector<double> expected = in_order();
    for (const unsigned count : {2, 4, 7, 100})
        for (int attempt = 0; attempt < 5; ++attempt) {
            CacheReplay replay(l2_bytes, slots, multiprocessors, count);
            std::vector<BlockRun> runs = random_runs(replay.sets());
            std::atomic<std::size_t> next{0};
            const auto work = [&](unsigned thread) {
                for (std::size_t i; (i = next.fetch_add(1)) < runs.size();) replay.finish(runs[i], thread);
                replay.finish_all();
            };
            std::vector<std::thread> threads;
            for (unsigned t = 0; t < count; ++t) threads.emplace_back(work, t);
            for (std::thread& t : threads) t.join();
            CHECK(counted(replay) == expected);
        }
}

TEST_CASE("runs wait for the first one, however many they are") {
    CacheReplay replay(l2_bytes, slots, multiprocessors, GENERATE(1u, 3u));
    std::vector<BlockRun> runs = random_runs(replay.sets());
    for (std::size_t i = runs.size(); i-- > 0;) {
        CHECK(replay.stats(0).l2_reads == 0);
        replay.finish(runs[i]);
    }
    replay.finish_all();
    CHECK(counted(replay) == in_order());
}

TEST_CASE("one host thread does what is left to others that do not come") {
    CacheReplay replay(l2_bytes, slots, multiprocessors, 5);
    for (BlockRun& run : random_runs(replay.sets())) {
        replay.finish(run, 4);  // which has no part of its own
        CHECK((run.blocks.empty() && run.misses() == 0 && run.lost_reads == 0));
    }
    CHECK((replay.spread().most_instructions() > 0 && replay.stats(0).l2_reads > 0));  // too many waited
    replay.finish_all();
    CHECK(counted(replay) == in_order());
}

TEST_CASE("all lines of a set are in one part of L2, and the parts have about as many sets") {
    for (const std::uint64_t sets : {1u, 5u, 1000u, 25'600u})
        for (const unsigned parts : {1u, 2u, 3u, L2Sets::max_parts}) {
            const L2Sets l2(sets * L2Sets::ways * line_bytes, parts);
            std::vector<std::uint64_t> count(parts);
            std::uint64_t wrong = 0;
            for (std::uint64_t set = 0; set < sets; ++set) {
                const unsigned part = l2.part_of(set);
                ++count.at(part);
                for (const std::uint64_t turns : {1u, 7u, 40'000'000u}) {
                    const std::uint64_t line = set + turns * sets;
                    wrong += l2.index_of(line) != set || l2.part_of(line) != part;
                }
            }
            CHECK(wrong == 0);
            if (sets >= 1000)
                CHECK(static_cast<double>(std::ranges::max(count)) <= 1.3 * static_cast<double>(sets) / parts);
        }
}
