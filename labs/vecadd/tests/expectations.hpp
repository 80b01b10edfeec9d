// What the tests of lab vecadd ask of every version: the sums, exactly, the device's work, and how the data travelled.
#pragma once

#include <algorithm>
#include <cstdint>
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

// Calls one of the first three versions with (n), the last with (n, streams); the result is right when it returns.
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
    INFO("the elements must be added on the device");
    const auto size = static_cast<std::uint64_t>(n), sectors = (size + 7) / 8;
    CHECK(run.launches.size() >= 1);
    const auto counters = run.total();
    CHECK(counters.thread_inst_executed >= size);
    CHECK(counters.global_load_sectors >= 2 * sectors);
    CHECK(counters.global_store_sectors >= sectors);
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
    const auto elements_that_the_threads_may_add = threads * ELEMENTS_PER_THREAD;
    CHECK(elements_that_the_threads_may_add >= size);
    const auto counters = run.total();
    const auto most = sectors + sectors / 4 + 2 * run.launches.size();
    CHECK(counters.global_load_sectors <= 2 * most);
    CHECK(counters.global_store_sectors <= most);
}

// Number and bytes of the copies of one kind.
inline std::pair<std::size_t, std::uint64_t> copies(const judge::Profile& run, Transfer::Kind kind) {
    std::pair<std::size_t, std::uint64_t> result;
    for (const auto& transfer : run.transfers) {
        if (transfer.kind != kind) continue;
        ++result.first;
        result.second += transfer.bytes;
    }
    return result;
}

// Each input goes to the device once and the result back once, and nothing else moves. `pieces`: of each vector.
inline void check_copies(const judge::Profile& run, int n, std::size_t pieces) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(n) * sizeof(float);
    const auto [copies_to_device, bytes_to_device] = copies(run, Transfer::Kind::to_device);
    const auto [copies_to_host, bytes_to_host] = copies(run, Transfer::Kind::to_host);
    CHECK(copies_to_device <= 2 * pieces);
    CHECK(bytes_to_device == 2 * bytes);
    CHECK(copies_to_host <= pieces);
    CHECK(bytes_to_host == bytes);
    CHECK(copies(run, Transfer::Kind::within_device).first == 0);
}

// Bytes that calls with such a name allocated: "cudaMallocManaged", "cudaHost" for cudaHostAlloc, cudaMallocHost and
// cudaHostRegister alike.
inline std::uint64_t bytes_allocated(const judge::Profile& run, std::string_view name) {
    std::uint64_t bytes = 0;
    for (const auto& allocation : run.allocations)
        if (std::string_view(allocation.call).starts_with(name)) bytes += allocation.bytes;
    return bytes;
}

// The three arrays lie in memory from calls that begin with `kind`, no other memory was asked for, and nothing was
// copied by CUDA calls. `words` names that memory for the message.
inline void check_shared_by_both_sides(const judge::Profile& run, int n, std::string_view kind, const char* words) {
    INFO("the three arrays of n floats belong into " << words << ", and nothing into other memory");
    const std::uint64_t bytes = static_cast<std::uint64_t>(n) * sizeof(float);
    std::uint64_t all = 0;
    for (const auto& allocation : run.allocations) all += allocation.bytes;
    const auto bytes_there = bytes_allocated(run, kind), bytes_elsewhere = all - bytes_there;
    CHECK(bytes_there >= 3 * bytes);
    CHECK(bytes_elsewhere == 0);
    const auto copies_by_cuda = copies(run, Transfer::Kind::to_device).first +
                                copies(run, Transfer::Kind::to_host).first +
                                copies(run, Transfer::Kind::within_device).first;
    CHECK(copies_by_cuda == 0);
}

// The host had waited for all kernels and copies. Here each runs to its end at once, so that the results do not tell.
inline void check_waited(const judge::Profile& run) {
    INFO("on a real GPU the host would read the result before it is there: wait for the device first");
    double last_work_ns = 0, last_wait_ns = 0;
    for (const auto& launch : run.launches) last_work_ns = std::max(last_work_ns, launch.start_ns + launch.duration_ns);
    for (const auto& transfer : run.transfers) last_work_ns = std::max(last_work_ns, transfer.when.end_ns);
    for (const double wait : run.waits_ns) last_wait_ns = std::max(last_wait_ns, wait);
    CHECK(last_wait_ns >= last_work_ns);
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

// Every kernel and every copy is in a stream of its piece, none in the default stream (0).
inline void check_streams(const judge::Profile& run, int n, int streams) {
    std::set<unsigned> of_kernels, of_copies;
    for (const auto& launch : run.launches) of_kernels.insert(launch.config.stream);
    for (const auto& transfer : run.transfers) of_copies.insert(transfer.stream);
    const auto largest_piece = (n + streams - 1) / streams;
    const auto least_streams = static_cast<std::size_t>((n + largest_piece - 1) / largest_piece);
    const auto uses_of_the_default_stream = of_kernels.count(0) + of_copies.count(0);
    CHECK(uses_of_the_default_stream == 0);
    const auto streams_with_kernels = of_kernels.size();
    CHECK(streams_with_kernels >= least_streams);
    CHECK(streams_with_kernels <= static_cast<std::size_t>(streams));
    const bool copies_are_in_the_streams_of_their_kernels = of_copies == of_kernels;
    CHECK(copies_are_in_the_streams_of_their_kernels);
    CHECK(run.launches.size() <= static_cast<std::size_t>(streams));
}

inline auto profile_streams(int n, int streams) {
    const auto run = profile_sum<vecadd_streams>(judge::uniform(n), judge::uniform(n), n, streams);
    check_device_work(run, n);
    check_streams(run, n, streams);
    check_copies(run, n, static_cast<std::size_t>(streams));
    check_waited(run);
    check_kernels(run, n);
    return run;
}
