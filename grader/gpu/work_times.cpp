#include "gpu/work_times.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {
namespace {

constexpr std::size_t max_pieces = 4096;  // before their times are read and their events used again
constexpr auto warm_up_time = std::chrono::milliseconds(20);

}  // namespace

WorkTimes::WorkTimes(std::uint64_t l2_bytes) : scratch_bytes_(2 * l2_bytes) {
    const Driver& cuda = driver();
    check(cuda.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "a stream");
    check(cuda.cuEventCreate(&origin_, CU_EVENT_DEFAULT), "an event");
    check(cuda.cuMemAlloc(&scratch_, scratch_bytes_), "memory that fills L2");
    check(cuda.cuEventRecord(origin_, stream_), "recording an event");
}

WorkTimes::~WorkTimes() {
    const Driver& cuda = driver();
    for (const Piece& piece : pieces_) unused_.insert(unused_.end(), {piece.events.start, piece.events.end});
    for (const CUevent event : unused_) cuda.cuEventDestroy(event);
    cuda.cuEventDestroy(origin_);
    cuda.cuStreamDestroy(stream_);
    cuda.cuMemFree(scratch_);
}

// An idle GPU lowers its clock, and takes milliseconds of work to raise it again.
void WorkTimes::warm_up() {
    const Driver& cuda = driver();
    const auto begin = std::chrono::steady_clock::now();
    do {
        check(cuda.cuMemsetD8Async(scratch_, 0, scratch_bytes_, stream_), "filling L2");
        check(cuda.cuStreamSynchronize(stream_), "filling L2");
    } while (std::chrono::steady_clock::now() - begin < warm_up_time);
    check(cuda.cuEventRecord(origin_, stream_), "recording an event");
    warm_ = true;
}

WorkTimes::Events WorkTimes::begin(bool launch) {
    const Driver& cuda = driver();
    if (!warm_) warm_up();
    if (pieces_.size() >= max_pieces) {
        check(cuda.cuCtxSynchronize(), "waiting for the device");
        settle();
    }
    while (unused_.size() < 2) {
        CUevent event = nullptr;
        check(cuda.cuEventCreate(&event, CU_EVENT_DEFAULT), "an event");
        unused_.push_back(event);
    }
    Events events{unused_.back(), unused_[unused_.size() - 2]};
    unused_.resize(unused_.size() - 2);
    pieces_.push_back({events, launch});
    return events;
}

void WorkTimes::cancel() {
    const Events events = pieces_.back().events;
    pieces_.pop_back();
    unused_.insert(unused_.end(), {events.start, events.end});
}

void WorkTimes::settle() {
    const Driver& cuda = driver();
    for (const auto& [events, launch] : std::exchange(pieces_, {})) {
        unused_.insert(unused_.end(), {events.start, events.end});
        float start_ms = 0, end_ms = 0;
        // After a fault of a kernel no time is known.
        if (cuda.cuEventElapsedTime(&start_ms, origin_, events.start) != CUDA_SUCCESS ||
            cuda.cuEventElapsedTime(&end_ms, origin_, events.end) != CUDA_SUCCESS)
            continue;
        const Interval when{1e6 * double{start_ms}, 1e6 * double{end_ms}};
        busy_.push_back(when);
        if (launch) launches_.push_back({when.start_ns, when.end_ns - when.start_ns});
    }
    std::ranges::sort(busy_, {}, &Interval::start_ns);
    std::size_t kept = 0;
    for (const Interval& next : busy_) {
        if (kept > 0 && next.start_ns <= busy_[kept - 1].end_ns)
            busy_[kept - 1].end_ns = std::max(busy_[kept - 1].end_ns, next.end_ns);
        else
            busy_[kept++] = next;
    }
    busy_.resize(kept);
}

double WorkTimes::finish() {
    settle();
    double total = 0;
    for (const Interval& each : std::exchange(busy_, {})) total += each.end_ns - each.start_ns;
    warm_ = false;
    return total;
}

}  // namespace warpgrade::gpu
