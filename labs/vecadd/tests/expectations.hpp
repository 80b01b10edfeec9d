// What the tests of lab vecadd ask of every version: the sums, exactly, the device's work, and how the data travelled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/judge.hpp"
#include "vecadd.h"

namespace judge = warpgrade::judge;
using Transfer = warpgrade::device::TransferRecord;

// No tolerance: IEEE 754 rounds one addition to the nearest float, and so does the GPU, so that host and device give
// the same bits. A sum of operands in half precision does not.
inline std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] + b[i];
    return c;
}

// Calls one of the first three versions with (n), the last with (n, streams, times); the result is right on return.
template <auto function, class... More>
auto profile_sum(const std::vector<float>& a, const std::vector<float>& b, More... more) {
    const auto run =
        judge::submission().profile<function>(judge::in(a), judge::in(b), judge::out<float>(a.size()), more...);
    const auto& c = run.output;
    REQUIRE_THAT(c, judge::equals_exactly(sums(a, b)));
    return run;
}

// Added on the device: one instruction of one thread adds at most one pair, and all of a and b was loaded and all of c
// stored, in sectors of 32 bytes.
inline void check_device_work(const judge::Profile& run, int n) {
    using namespace judge;
    const char* const why = "the elements must be added on the device";
    const auto size = static_cast<std::uint64_t>(n), sectors = (size + 7) / 8;
    CHECK_THAT(launches(run), at_least(1, why));
    const auto counters = run.total();
    CHECK_THAT(thread_instructions(counters), at_least(size, why));
    CHECK_THAT(sectors_loaded(counters), at_least(2 * sectors, "all of a and b"));
    CHECK_THAT(sectors_stored(counters), at_least(sectors, "all of c"));
}

template <auto function, class... More>
void check_sum(const std::vector<float>& a, const std::vector<float>& b, More... more) {
    INFO("n = " << a.size());
    check_device_work(profile_sum<function>(a, b, more...), static_cast<int>(a.size()));
}

// The grid grows with n, and each element is loaded and stored once, by neighbouring threads together. A warp's request
// for 32 neighbouring floats touches 4 sectors of 32 bytes, or 5 where the array does not begin at a sector: 5/4 of the
// sectors that the elements fill, and one more at the ends of each launch's piece. Threads that stand s elements apart
// need up to s times as many.
inline void check_kernels(const judge::Profile& run, int n) {
    const auto size = static_cast<std::uint64_t>(n), sectors = (size + 7) / 8;
    std::uint64_t threads = 0;
    for (const auto& launch : run.launches) threads += launch.config.grid.count() * launch.config.block.count();
    using namespace judge;
    CHECK_THAT(measure("elements for which there are threads", threads * ELEMENTS_PER_THREAD), at_least(size));
    const auto counters = run.total();
    const auto most = sectors + sectors / 4 + 2 * run.launches.size();
    CHECK_THAT(sectors_loaded(counters), at_most(2 * most, "neighbouring threads load neighbouring elements"));
    CHECK_THAT(sectors_stored(counters), at_most(most, "neighbouring threads store neighbouring elements"));
}

// Each input goes to the device and the result back, once each time, and nothing else moves. `pieces`: of each vector.
inline void check_copies(const judge::Profile& run, int n, std::size_t pieces, int times = 1) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(n) * sizeof(float) * times;
    const std::string once = times == 1 ? " once" : " once each time";
    const std::string of_times = times == 1 ? "" : ", " + std::to_string(times) + " times";
    using namespace judge;
    CHECK_THAT(copies(run, Transfer::Kind::to_device), at_most(2 * times * pieces, "each piece of a and b" + once));
    CHECK_THAT(bytes_copied(run, Transfer::Kind::to_device), is(2 * bytes, "a and b, n floats each" + of_times));
    CHECK_THAT(copies(run, Transfer::Kind::to_host), at_most(times * pieces, "each piece of c" + once));
    CHECK_THAT(bytes_copied(run, Transfer::Kind::to_host), is(bytes, "c, n floats" + of_times));
    CHECK_THAT(copies(run, Transfer::Kind::within_device), is(0));
}

// Bytes that calls with such a name allocated: "cudaMallocManaged", "cudaHost" for cudaHostAlloc, cudaMallocHost and
// cudaHostRegister alike.
inline std::uint64_t bytes_allocated(const judge::Profile& run, std::string_view name) {
    std::uint64_t bytes = 0;
    for (const auto& allocation : run.allocations)
        if (std::string_view(allocation.call).starts_with(name)) bytes += allocation.bytes;
    return bytes;
}

// The arrays lie in memory from calls that begin with `kind`, no other memory was asked for, and nothing was
// copied by CUDA calls. `words` names that memory for the message.
inline void check_shared_by_both_sides(const judge::Profile& run, int n, std::string_view kind,
                                       const std::string& words) {
    using namespace judge;
    const std::uint64_t bytes = static_cast<std::uint64_t>(n) * sizeof(float);
    std::uint64_t all = 0;
    for (const auto& allocation : run.allocations) all += allocation.bytes;
    const auto bytes_there = bytes_allocated(run, kind), bytes_elsewhere = all - bytes_there;
    CHECK_THAT(measure("bytes of " + words, bytes_there),
               at_least(2 * bytes, "a and b, n floats each"));  // c may replace one
    CHECK_THAT(measure("bytes of other memory", bytes_elsewhere), is(0));
    const char* const why = "both sides use the same memory";
    for (const auto kind_of_copy : {Transfer::Kind::to_device, Transfer::Kind::to_host, Transfer::Kind::within_device})
        CHECK_THAT(copies(run, kind_of_copy), is(0, why));
}

// The host had waited for all kernels and copies. Here each runs to its end at once, so that the results do not tell.
inline void check_waited(const judge::Profile& run) {
    double last_work_ns = 0, last_wait_ns = 0;
    for (const auto& launch : run.launches) last_work_ns = std::max(last_work_ns, judge::when(launch).end_ns);
    for (const auto& transfer : run.transfers) last_work_ns = std::max(last_work_ns, transfer.when.end_ns);
    for (const double wait : run.waits_ns) last_wait_ns = std::max(last_wait_ns, wait);
    using namespace judge;
    const auto too_early = std::ranges::count_if(
        run.diagnostics, [](const auto& found) { return std::string_view(found.rule->id) == "racecheck/host"; });
    CHECK_THAT(measure("results used and memory freed without waiting", too_early), is(0));
    CHECK_THAT(
        measure("the host waited for the device until", last_wait_ns, "ns"),
        at_least(last_work_ns, "the end of the last kernel or copy: on a real GPU the host would read too early"));
}

// What is particular to each version.

template <auto function>
void check_way(int n);

template <>
inline void check_way<vecadd_copies>(int n) {
    const auto run = profile_sum<vecadd_copies>(judge::uniform(n), judge::uniform(n), n);
    check_device_work(run, n);
    check_copies(run, n, 1);
    check_kernels(run, n);
}

template <>
inline void check_way<vecadd_managed>(int n) {
    const auto run = profile_sum<vecadd_managed>(judge::uniform(n), judge::uniform(n), n);
    check_device_work(run, n);
    check_shared_by_both_sides(run, n, "cudaMallocManaged", "managed memory");
    check_waited(run);
    check_kernels(run, n);
}

template <>
inline void check_way<vecadd_mapped>(int n) {
    const auto run = profile_sum<vecadd_mapped>(judge::uniform(n), judge::uniform(n), n);
    check_device_work(run, n);
    check_shared_by_both_sides(run, n, "cudaHost", "page-locked host memory");
    check_waited(run);
    check_kernels(run, n);
}

// Every kernel and every copy is in a stream of its piece, none in the default stream (0), whichever time it is.
inline void check_streams(const judge::Profile& run, int n, int streams, int times) {
    std::set<unsigned> of_kernels, of_copies;
    int in_default_stream = 0;
    for (const auto& launch : run.launches) {
        of_kernels.insert(launch.config.stream);
        in_default_stream += launch.config.stream == 0;
    }
    for (const auto& transfer : run.transfers) {
        of_copies.insert(transfer.stream);
        in_default_stream += transfer.stream == 0;
    }
    const auto largest_piece = (n + streams - 1) / streams;
    const auto least_streams = static_cast<std::size_t>((n + largest_piece - 1) / largest_piece);
    using namespace judge;
    CHECK_THAT(measure("kernels and copies in the default stream", in_default_stream), is(0));
    CHECK_THAT(measure("streams with kernels", of_kernels.size()),
               between(least_streams, streams, "one for each piece"));
    std::vector<unsigned> of_one_only;
    std::set_symmetric_difference(of_kernels.begin(), of_kernels.end(), of_copies.begin(), of_copies.end(),
                                  std::back_inserter(of_one_only));
    CHECK_THAT(measure("streams with a kernel but no copies, or with copies but no kernel", of_one_only.size()), is(0));
    CHECK_THAT(launches(run), between(least_streams * times, streams * times, "one for each piece, each time"));
    std::uint64_t longest = 0;
    for (const auto& transfer : run.transfers)
        if (transfer.kind == Transfer::Kind::to_host) longest = std::max<std::uint64_t>(longest, transfer.bytes);
    CHECK_THAT(measure("elements of the longest piece", longest / sizeof(float)),
               at_most(largest_piece, "n / streams, rounded up"));
}

// What serves again is made once. The arrays fill 6 n floats, three on either side; half as many more leave room for
// padding, and less than a second set of them.
inline void check_made_once(const judge::Profile& run, int n, int times) {
    std::uint64_t bytes = 0;
    for (const auto& allocation : run.allocations) bytes += allocation.bytes;
    if (times > 1)
        CHECK_THAT(judge::measure("bytes of memory allocated or page-locked", bytes),
                   judge::at_most(std::uint64_t{9} * n * sizeof(float), "once, however often it is added"));
}

// The result comes from the last time alone, unless a kernel's arrays are parts of one allocation; the work of the
// others is asked for as well.
inline judge::Profile with_all_launches(judge::Profile run) {
    run.launches.insert(run.launches.end(), run.not_part.begin(), run.not_part.end());
    run.not_part.clear();
    return run;
}

inline auto profile_streams(int n, int streams, int times = 2) {
    const auto run = profile_sum<vecadd_streams>(judge::uniform(n), judge::uniform(n), n, streams, times);
    check_device_work(run, n);
    const auto all = with_all_launches(run);
    check_device_work(all, n * times);
    check_streams(all, n, streams, times);
    check_copies(all, n, static_cast<std::size_t>(streams), times);
    check_made_once(all, n, times);
    check_waited(all);
    check_kernels(all, n * times);
    return all;
}

// How many of x are above the limit: with a part of them on the host, and each call anew.
inline auto check_count(int n, int on_host) {
    using namespace judge;
    INFO("n = " << n << ", on_host = " << on_host);
    const float limit = uniform(1, -0.5, 0.5)[0];
    auto x = uniform(n);
    x.front() = x.back() = limit;                // is not greater, on either side
    returned_by_host<count_above>(on_host > 0);  // else the device has counted all
    const auto run = submission().profile<count_above>(in(x), n, limit, on_host);
    const auto right = std::count_if(x.begin(), x.end(), [=](float value) { return value > limit; });
    REQUIRE_THAT(measure("elements above the limit", run.output), is(right));
    const auto on_device = static_cast<std::uint64_t>(n - on_host);
    if (on_device == 0) {
        CHECK_THAT(launches(run), is(0));
        return run;
    }
    double sectors = 0, requests = 0;
    for (const auto* list : {&run.launches, &run.not_part}) {
        for (const auto& launch : *list) {
            sectors += sectors_loaded(launch).number.value();
            requests += global_atomic_requests(launch).number.value() + global_store_requests(launch).number.value();
        }
    }
    const auto kernels = run.launches.size() + run.not_part.size();
    CHECK_THAT(measure("launches", kernels), at_least(1, "the device counts among the first n - on_host elements"));
    // One thread alone loads a sector for each element, 8 times as many as neighbours together; twice as many leave
    // room for counts of blocks that a second kernel adds.
    const auto all = (on_device + 7) / 8;
    CHECK_THAT(measure("sectors loaded", sectors),
               between(all, 2 * all + 32, "all that the device counts in, neighbouring elements together"));
    CHECK_THAT(measure("stores and atomic operations of warps", requests),
               at_least(right > on_host, "to the variable"));
    const std::uint64_t bytes = on_device * sizeof(float);  // and the variable's first value, for those who copy it
    CHECK_THAT(bytes_copied(run, Transfer::Kind::to_device),
               between(bytes, bytes + sizeof(std::uint64_t), "what the device counts in"));
    CHECK_THAT(copies(run, Transfer::Kind::to_host), is(0, "the host reads the __managed__ variable"));
    check_waited(run);
    return run;
}
