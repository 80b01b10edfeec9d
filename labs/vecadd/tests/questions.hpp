// Not handed out as source.
// How the prelab of lab vecadd asks for bytes and times; judge/questions.hpp asks all else.
#pragma once

#include <algorithm>
#include <set>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "vecadd.h"

inline void ask_bytes(int n, int launches) {
    using namespace judge;
    INFO("n = " << n << ", launches = " << launches);
    const double once = 12.0 * n;
    if (launches > 1) {
        ask<bytes_with_copies>(
            once, {{launches * once, "what is on the device stays there from launch to launch; copies are made once"}},
            static_cast<long long>(n), launches);
        ask<bytes_mapped>(launches * once,
                          {{once, "mapped memory stays on the host: every launch reaches across the link again"}},
                          static_cast<long long>(n), launches);
        return;
    }
    const auto a = uniform(n), b = uniform(n);
    check_prediction(submission().call<bytes_with_copies>(n, 1), measure("bytes copied", 0), once, {});  // is given
    const auto mapped = own_run<vecadd_mapped>(equals_exactly(sums(a, b)), in(a), in(b), out<float>(n), n);
    const bool is_mapped = bytes_allocated(mapped, "cudaHost") > 0 && mapped.transfers.empty();
    const auto all = mapped.total();
    const double moved = is_mapped ? 32.0 * (all.global_load_sectors + all.global_store_sectors) : 0;
    check_prediction(submission().call<bytes_mapped>(n, 1), measure("bytes loaded and stored", moved), once, {});
}

// The longest of the three is busy all the time; of the others, one piece adds to it.
inline double pipelined(double to_device, double kernel, double to_host, int streams) {
    const double longest = std::max({to_device, kernel, to_host});
    return longest + (to_device + kernel + to_host - longest) / streams;
}

// What the copies and the kernel take in one stream, and from that the time in several.
inline void ask_time(int n, int streams) {
    using namespace judge;
    INFO("n = " << n << ", streams = " << streams);
    const auto a = uniform(n), b = uniform(n);
    const auto one = submission().profile<vecadd_streams>(in(a), in(b), out<float>(n), n, 1, 1);
    double up = 0, down = 0;  // µs
    for (const auto& transfer : one.transfers)
        (transfer.kind == Transfer::Kind::to_device ? up : down) +=
            (transfer.when.end_ns - transfer.when.start_ns) / 1000;
    double kernel = one.kernel_time_ns() / 1000;
    if (up == 0 || kernel == 0 || down == 0) up = 400, kernel = 20, down = 200;  // nothing ran that could be measured
    INFO("to the device " << up << " µs, kernel " << kernel << " µs, back " << down << " µs");
    const auto several =
        own_run<vecadd_streams>(equals_exactly(sums(a, b)), in(a), in(b), out<float>(n), n, streams, 1);
    std::set<unsigned> used;
    for (const auto& launch : several.launches) used.insert(launch.config.stream);
    const double predicted = submission().call<streams_time>(up, kernel, down, streams);
    const double described = pipelined(up, kernel, down, streams);
    const auto time = measure("time", several.time_ns / 1000, "µs");
    const bool is_measured = used.size() == static_cast<std::size_t>(streams) && !used.contains(0);
    check_prediction(predicted, is_measured ? time : measure("time", 0, "µs"), described, {}, 0.25);
}
