// What the tests of lab debug ask of each function: right results, without a finding of the checks, and from the plan
// that the contract says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

#include "debug.h"
#include "judge/judge.hpp"

namespace oracle {

inline std::vector<unsigned char> brighten(std::vector<unsigned char> pixels, int by) {
    for (auto& pixel : pixels) pixel = static_cast<unsigned char>(std::min(pixel + by, 255));
    return pixels;
}

inline std::vector<int> differences(const std::vector<int>& x, int columns) {
    std::vector<int> out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = i % columns == 0 ? 0 : x[i] - x[i - 1];
    return out;
}

inline std::vector<float> block_maxima(const std::vector<float>& x) {
    std::vector<float> out((x.size() + BLOCK - 1) / BLOCK, -std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < x.size(); ++i) out[i / BLOCK] = std::max(out[i / BLOCK], x[i]);
    return out;
}

inline std::vector<int> closest(const std::vector<int>& x, const std::vector<int>& y) {
    std::vector<int> out(x.size(), std::numeric_limits<int>::max());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (const int point : y) out[i] = std::min(out[i], std::abs(x[i] - point));
    return out;
}

inline std::vector<int> running_sums(std::vector<int> x) {
    for (std::size_t i = 0; i < x.size(); ++i)
        if (i % BLOCK != 0) x[i] += x[i - 1];
    return x;
}

}  // namespace oracle

namespace plan {

using namespace warpgrade::judge;
using std::uint64_t;

inline uint64_t up(uint64_t n, uint64_t part) { return (n + part - 1) / part; }

// The largest of the launches that do the work: those that load half of the elements' bytes or more. One that does next
// to nothing may be as large as it likes.
inline const warpgrade::device::LaunchRecord& main_launch(const Profile& run, uint64_t bytes) {
    const auto threads = [&](const auto& launch) {
        const double read = sectors_loaded(launch).number.value() - static_cast<double>(counted(launch).atomic_sectors);
        const bool works = 2 * 32 * read >= static_cast<double>(bytes);
        return works ? launch.config.grid.count() * launch.config.block.count() : 0;
    };
    return *std::ranges::max_element(run.launches, {}, threads);
}

// What every function is asked first: a mistake of the checks is told before wrong results, and the plan is looked at
// once these are right. A macro, so that the message has the contract's name for the array.
#define REQUIRE_RIGHT(run, name, expected) \
    CHECK_THAT(run, clean());              \
    const auto& name = (run).output;       \
    REQUIRE_THAT(name, expected);          \
    REQUIRE_THAT(launches(run), at_least(1, "the device does the work"))

// One launch has a thread for each of `elements`, whose inputs have so many bytes: it cannot be one block, for that has
// 1024 at most.
inline void check_threads(const Profile& run, uint64_t elements, uint64_t bytes) {
    const auto& config = main_launch(run, bytes).config;
    CHECK_THAT(measure("threads in the launch that does the work", config.grid.count() * config.block.count()),
               at_least(elements, "one for each element"));
}

// Warps load the elements once, side by side: `warps` requests, and as many again for rows that are cut elsewhere. Who
// goes around shared memory loads more often.
inline void check_loads(const Profile& run, uint64_t warps) {
    CHECK_THAT(global_load_requests(run), at_most(2 * warps + 32, "each element is loaded once"));
}

// Whole warps store: `warps` is how many there are at least for the elements. One thread alone would need a request for
// each element, 32 times as many; twice as many leave room for rows that are cut elsewhere, and 32 for a last block
// that is filled up.
inline void check_stores(const Profile& run, uint64_t warps) {
    CHECK_THAT(global_store_requests(run),
               at_most(2 * warps + 32, "neighbouring threads store neighbouring elements, each once"));
}

// No more barriers than `each` for a thread, here as for its warp.
inline void check_barriers(const Profile& run, uint64_t each) {
    CHECK_THAT(barriers(run), at_most(each * static_cast<uint64_t>(warps(run).number.value()),
                                      std::to_string(each) + " for each warp"));
}

// The n elements pass through shared memory, and all threads take part: where one thread of a block does all the steps,
// there is a request for each element, and not for each warp.
inline void check_shared(const Profile& run, uint64_t n, uint64_t least, uint64_t most) {
    CHECK_THAT(shared_store_requests(run), at_least(up(n, 32), "the elements pass through shared memory"));
    CHECK_THAT(shared_requests(run), between(least * up(n, 32), most * up(n, BLOCK) * (BLOCK / 32),
                                             "neighbouring threads work side by side"));
}

}  // namespace plan

inline void check_brighten(int n, int by) {
    using namespace plan;
    INFO("n = " << n << ", by = " << by);
    const auto before = integers<unsigned char>(n, 0, 255);
    const auto run = submission().profile<brighten>(inout(before), n, by);
    REQUIRE_RIGHT(run, pixels, equals_exactly(oracle::brighten(before, by)));
    check_threads(run, n, n);
    check_stores(run, up(n, 32));
}

inline void check_axpy(int n, float a) {
    using namespace plan;
    INFO("n = " << n << ", a = " << a);
    const auto x = integers<float>(n, -1000, 1000), before = integers<float>(n, 1, 1000);
    auto expected = before;
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] += a * x[i];
    const auto run = submission().profile<axpy>(a, in(x), inout(before), n);
    REQUIRE_RIGHT(run, y, equals_exactly(expected));
    check_threads(run, n, 8 * uint64_t(n));
    check_stores(run, up(n, 32));
}

// Each block stores the table, one request for 32 elements, and each warp looks up.
inline void check_look_up(int entries, int n) {
    using namespace plan;
    INFO("entries = " << entries << ", n = " << n);
    const auto table = uniform(entries);
    auto indices = integers<int>(n, 0, entries - 1);
    indices.back() = entries - 1;
    std::vector<float> expected;
    for (const int i : indices) expected.push_back(table[i]);
    const auto run = submission().profile<look_up>(in(table), entries, in(indices), out<float>(n), n);
    REQUIRE_RIGHT(run, out, equals_exactly(expected));
    check_threads(run, n, 4 * uint64_t(n));
    check_stores(run, up(n, 32));
    const auto blocks_of_all = main_launch(run, 4 * uint64_t(n)).config.grid.count();
    CHECK_THAT(shared_store_requests(run), at_least(blocks_of_all * up(entries, 4 * 32), "the table, in each block"));
    const uint64_t sectors = blocks_of_all * up(entries, 8) + up(n, 8);
    CHECK_THAT(sectors_loaded(run), at_most(sectors + sectors / 4 + 32, "the table once for each block, and indices"));
    CHECK_THAT(shared_load_requests(run), at_least(up(n, 32), "each warp looks up in shared memory"));
    check_barriers(run, 1);
}

inline void check_add_to_rows(int rows, int columns) {
    using namespace plan;
    INFO("rows = " << rows << ", columns = " << columns);
    const auto x = integers<int>(rows * columns, -1000, 1000), row = integers<int>(columns, 10'000, 99'999);
    auto expected = x;
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] += row[i % columns];
    const auto run = submission().profile<add_to_rows>(in(x), in(row), out<int>(rows * columns), rows, columns);
    REQUIRE_RIGHT(run, out, equals_exactly(expected).shape(rows, columns));
    CHECK_THAT(blocks(main_launch(run, 4 * uint64_t(rows) * columns)), at_least(rows, "one for each row"));
    check_stores(run, rows * up(columns, 32));
}

inline void check_differences(int rows, int columns) {
    using namespace plan;
    INFO("rows = " << rows << ", columns = " << columns);
    const auto x = integers<int>(rows * columns, 1, 1'000'000);
    const auto run = submission().profile<differences>(in(x), out<int>(rows * columns), rows, columns);
    REQUIRE_RIGHT(run, out, equals_exactly(oracle::differences(x, columns)).shape(rows, columns));
    check_threads(run, static_cast<uint64_t>(rows) * columns, 4 * uint64_t(rows) * (columns - 1));
    check_stores(run, rows * up(columns, 32));
}

// Each warp counts its elements with an atomic in shared memory. Blocks that add their counts one after the other, in a
// launch each, have no launch with enough threads.
inline void check_histogram(const std::vector<unsigned char>& x) {
    using namespace plan;
    const int n = static_cast<int>(x.size());
    INFO("n = " << n);
    std::vector<int> expected(256);
    for (const auto value : x) ++expected[value];
    const auto run = submission().profile<histogram>(in(x), n, out<int>(256));
    REQUIRE_RIGHT(run, counts, equals_exactly(expected));
    check_threads(run, n, n);
    CHECK_THAT(shared_atomic_requests(run), between(up(n, 32), 2 * up(n, 32), "one for each warp"));
    check_barriers(run, 2);
}

// Each warp stores its elements once. The steps of the tree take 12 warps of a block, each of which loads twice and
// stores once: 5.5 requests a warp with the elements. One thread alone takes 255 loads a block at least, 32 a warp.
inline void check_block_maxima(const std::vector<float>& x) {
    using namespace plan;
    const int n = static_cast<int>(x.size());
    INFO("n = " << n);
    const auto run = submission().profile<block_maxima>(in(x), n, out<float>(up(n, BLOCK)));
    REQUIRE_RIGHT(run, out, equals_exactly(oracle::block_maxima(x)));
    check_threads(run, n, 4 * uint64_t(n));
    check_loads(run, up(n, 32));
    check_shared(run, n, 2, 12);
    check_barriers(run, 9);
}

// Every warp loads what it compares with: one request for a point, or for four as a vector.
inline void check_closest(int n, int m) {
    using namespace plan;
    INFO("n = " << n << ", m = " << m);
    const auto x = integers<int>(n, 0, 1'000'000), y = integers<int>(m, 0, 1'000'000);
    const auto run = submission().profile<closest>(in(x), n, in(y), m, out<int>(n));
    REQUIRE_RIGHT(run, out, equals_exactly(oracle::closest(x, y)));
    check_threads(run, n, 4 * uint64_t(n));
    check_loads(run, up(n, 32) + main_launch(run, 4 * uint64_t(n)).config.grid.count() * up(m, 32));
    check_stores(run, up(n, 32));
    CHECK_THAT(shared_load_requests(run),
               between(up(n, 32) * up(m, 4), 2 * up(n, BLOCK) * (BLOCK / 32) * up(m, BLOCK) * BLOCK,
                       "each warp reads all points there"));
    check_barriers(run, 2 * up(m, BLOCK));
}

// Eight steps, in each of which a warp loads twice and stores once: 26 requests a warp, or 17 with its own sum in a
// register. One thread alone has 255 loads and 255 stores in a block, 64 a warp; a scan of warps by shuffles has 2.
inline void check_running_sums(const std::vector<int>& x) {
    using namespace plan;
    const int n = static_cast<int>(x.size());
    INFO("n = " << n);
    const auto run = submission().profile<running_sums>(in(x), out<int>(n), n);
    REQUIRE_RIGHT(run, out, equals_exactly(oracle::running_sums(x)));
    check_threads(run, n, 4 * uint64_t(n));
    check_loads(run, up(n, 32));
    check_stores(run, up(n, 32));
    check_shared(run, n, 8, 40);
    check_barriers(run, 17);
}

// The second half is on its way up before the first has come down: a program that waits in between, or whose copies
// do, has nothing under way then.
inline void check_overlap(const warpgrade::judge::Profile& run) {
    using namespace plan;
    using Kind = warpgrade::device::TransferRecord::Kind;
    double first_down_ns = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, std::uint64_t>> up;  // begin, bytes
    std::uint64_t bytes = 0, begun = 0;
    for (const auto& copy : run.transfers) {
        if (copy.kind == Kind::to_device) up.emplace_back(copy.when.start_ns, copy.bytes), bytes += copy.bytes;
        if (copy.kind == Kind::to_host) first_down_ns = std::min(first_down_ns, copy.when.end_ns);
    }
    std::ranges::sort(up);
    double second_half_ns = 0;
    for (const auto& [start_ns, size] : up) {
        if (2 * begun < bytes + 2) second_half_ns = start_ns;
        begun += size;
    }
    CHECK_THAT(measure("the second half begins its way to the device at", second_half_ns, "ns"),
               below(first_down_ns, "the end of the first copy to the host: the program waits too early"));
}

inline void check_powers(int n) {
    using namespace plan;
    INFO("n = " << n);
    const auto re = integers<int>(n, -30'000, 30'000), im = integers<int>(n, -10'000, 10'000);
    std::vector<int> expected;
    for (int i = 0; i < n; ++i) expected.push_back(re[i] * re[i] + im[i] * im[i]);
    const auto run = submission().profile<powers>(in(re), in(im), out<int>(n), n);
    REQUIRE_RIGHT(run, out, equals_exactly(expected));
    check_threads(run, n / 2, 4 * uint64_t(n));
    check_stores(run, up(n, 32));
    std::set<unsigned> streams;
    for (const auto& launch : run.launches) streams.insert(launch.config.stream);
    CHECK_THAT(measure("streams with kernels", streams.size()), at_least(2, "one for each half"));
    if (n >= 100'000) check_overlap(run);  // the copies of a short array are done before the host has issued the next
}
