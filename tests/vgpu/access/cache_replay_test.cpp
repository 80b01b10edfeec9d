// What blocks did is handed over in runs, by several host threads and in any order, and counts as block after block.
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/access/caches.hpp"

using namespace warpgrade::vgpu;

namespace {

using Kind = LineRequest::Kind;

constexpr std::uint64_t l2_bytes = 64 * 1024;  // half of the lines
constexpr std::size_t slots = 3;
constexpr std::uint32_t multiprocessors = 5;

// Runs of one to five blocks. More than may wait, and with so many misses that they do: to make them is less work.
std::vector<BlockRun> random_runs() {
    std::mt19937 random(7);
    std::vector<BlockRun> runs(300);
    std::uint64_t number = 0;
    for (BlockRun& run : runs) {
        run.first = number;
        for (auto blocks = 1 + random() % 5; blocks > 0; --blocks, ++number) {
            for (auto misses = random() % 400; misses > 0; --misses)
                run.misses.push_back(LineRequest::of(random() % 1024, 1 + random() % 15,
                                                     static_cast<Kind>(random() % 4),
                                                     static_cast<std::uint16_t>(random() % slots)));
            BlockWork work;
            work.add({.instructions = random() % 1000});
            run.blocks.push_back({run.misses.size(), work});
        }
        run.lost_reads = random() % 3;
    }
    return runs;
}

// All that a launch counts.
std::vector<double> counted(const CacheReplay& replay) {
    std::vector<double> all;
    const auto add = [&](const CacheStats& s) {
        for (const auto count : {s.l2_reads, s.l2_read_hits, s.l2_writes, s.dram_reads, s.dram_writes,
                                 s.fetched_sectors, s.l2_reads_again})
            all.push_back(static_cast<double>(count));
    };
    for (const CacheStats& s : replay.stats()) add(s);
    add(replay.lost());
    all.push_back(static_cast<double>(replay.spread().most_instructions()));
    all.push_back(replay.spread().busiest_issue());
    return all;
}

std::vector<double> in_order() {
    CacheReplay replay(l2_bytes, slots, multiprocessors);
    for (BlockRun& run : random_runs()) replay.finish(run);
    return counted(replay);
}

}  // namespace

TEST_CASE("a run counts as its blocks one by one") {
    CacheReplay replay(l2_bytes, slots, multiprocessors);
    for (const BlockRun& run : random_runs()) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < run.blocks.size(); ++i) {
            BlockRun one;
            one.first = run.first + i;
            const auto at = [&](std::size_t miss) { return run.misses.begin() + static_cast<std::ptrdiff_t>(miss); };
            one.misses.assign(at(begin), at(run.blocks[i].misses));
            begin = run.blocks[i].misses;
            one.blocks.push_back({one.misses.size(), run.blocks[i].work});
            one.lost_reads = i == 0 ? run.lost_reads : 0;
            replay.finish(one);
            CHECK((one.blocks.empty() && one.misses.empty() && one.lost_reads == 0));
        }
    }
    CHECK(counted(replay) == in_order());
}

TEST_CASE("runs of several host threads count in the order of their blocks") {
    const std::vector<double> expected = in_order();
    for (int attempt = 0; attempt < 20; ++attempt) {
        std::vector<BlockRun> runs = random_runs();
        CacheReplay replay(l2_bytes, slots, multiprocessors);
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t i; (i = next.fetch_add(1)) < runs.size();) replay.finish(runs[i]);
        };
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) threads.emplace_back(work);
        for (std::thread& t : threads) t.join();
        CHECK(counted(replay) == expected);
    }
}

TEST_CASE("runs wait for the first one, however many they are") {
    std::vector<BlockRun> runs = random_runs();
    CacheReplay replay(l2_bytes, slots, multiprocessors);
    for (std::size_t i = runs.size(); i-- > 0;) {
        CHECK(replay.stats()[0].l2_reads == 0);
        replay.finish(runs[i]);
    }
    CHECK(counted(replay) == in_order());
}
