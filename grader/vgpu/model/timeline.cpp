#include "vgpu/model/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace warpgrade::vgpu {
namespace {

// More kernels than this never run at once on any device: each takes at least one of this many places.
constexpr double max_concurrent_kernels = 128;
constexpr std::size_t max_moments = 2048;  // in the calendar
constexpr double whole = 1 + 1e-9;         // tolerates rounding: three thirds must fit on the device

}  // namespace

void Timeline::add_stream(StreamId stream, bool blocking) { streams_[stream] = {host_ns_, blocking}; }

void Timeline::remove_stream(StreamId stream) {
    const auto found = streams_.find(stream);
    if (found == streams_.end() || stream == 0) return;
    retired_ns_ = std::max(retired_ns_, found->second.ready_ns);
    if (found->second.blocking) retired_blocking_ns_ = std::max(retired_blocking_ns_, found->second.ready_ns);
    streams_.erase(found);
}

// The earliest start of work issued to the stream now if all resources were free.
double Timeline::ready(StreamId stream) const {
    if (stream == 0) {
        double result = retired_blocking_ns_;
        for (const auto& [id, other] : streams_)
            if (other.blocking) result = std::max(result, other.ready_ns);
        return result;
    }
    const Stream& own = streams_.at(stream);
    return own.blocking ? std::max(own.ready_ns, streams_.at(0).ready_ns) : own.ready_ns;
}

double Timeline::all_done() const {
    double result = retired_ns_;
    for (const auto& [id, stream] : streams_) result = std::max(result, stream.ready_ns);
    return result;
}

void Timeline::wake_at(double time_ns) {
    if (time_ns > host_ns_) host_ns_ = time_ns + costs_.wake_ns;
}

void Timeline::wait_until(double time_ns) {
    wake_at(time_ns);
    waits_.add(host_ns_, device::RecordLimits::max_waits);
}

bool Timeline::reached(double time_ns) {
    host_ns_ += costs_.query_ns;
    if (time_ns > host_ns_) return false;
    wait_until(time_ns);
    return true;
}

Interval Timeline::kernel(StreamId stream, double duration_ns, double share, const Demand& demand) {
    const auto possible = [](double ns) { return std::isfinite(ns) && ns >= 0; };
    if (!possible(duration_ns) || !std::ranges::all_of(demand, possible))
        throw std::logic_error("a launch with an impossible duration");
    host_ns_ += costs_.launch_issue_ns;
    trim_calendar();
    duration_ns = std::max(duration_ns, *std::ranges::max_element(demand));
    Use own;
    own.room = std::clamp(share, 1.0 / max_concurrent_kernels, 1.0);
    if (duration_ns > 0)
        std::ranges::transform(demand, own.resources.begin(), [&](double ns) { return ns / duration_ns; });
    const double earliest_ns = std::max({host_ns_, ready(stream), calendar_.begin()->first});
    const Interval when = find_place(earliest_ns, duration_ns, own);
    book(when, own);
    streams_.at(stream).ready_ns = when.end_ns;
    return when;
}

// A kernel's speed beside others, as a fraction of its speed alone.
double Timeline::relative_speed(const Use& others, const Use& own) {
    double speed = 1;
    for (std::size_t r = 0; r < own.resources.size(); ++r)
        if (own.resources[r] > 0)
            speed = std::min(speed, std::max(whole - others.resources[r], 0.0) / own.resources[r]);
    return speed;
}

Interval Timeline::find_place(double earliest_ns, double duration_ns, const Use& own) const {
    Interval when{earliest_ns, earliest_ns + duration_ns};
    auto span = std::prev(calendar_.upper_bound(earliest_ns));
    for (double begin_ns = earliest_ns; std::next(span) != calendar_.end(); begin_ns = (++span)->first) {
        const double end_ns = std::next(span)->first;
        if (when.end_ns <= begin_ns) break;
        if (span->second.room + own.room > whole) {
            when = {end_ns, end_ns + duration_ns};
            continue;
        }
        const double left_ns = when.end_ns - begin_ns;  // duration at full speed
        const double speed = relative_speed(span->second, own);
        if (speed * (end_ns - begin_ns) >= left_ns) {
            if (speed < 1) when.end_ns = begin_ns + left_ns / speed;
            break;
        }
        when.end_ns += (end_ns - begin_ns) * (1 - speed);
    }
    return when;
}

void Timeline::book(const Interval& when, const Use& own) {
    const auto end = cut_at(when.end_ns);
    for (auto span = cut_at(when.start_ns); span != end; ++span) {
        const double speed = relative_speed(span->second, own);
        for (std::size_t r = 0; r < own.resources.size(); ++r) span->second.resources[r] += speed * own.resources[r];
        span->second.room += own.room;
    }
}

std::map<double, Timeline::Use>::iterator Timeline::cut_at(double time_ns) {
    const auto next = calendar_.upper_bound(time_ns), span = std::prev(next);
    return span->first == time_ns ? span : calendar_.emplace_hint(next, time_ns, span->second);
}

// Drops the part of the calendar that is over, and if there is too much, the earliest part: no kernel starts before
// what remains.
void Timeline::trim_calendar() {
    calendar_.erase(calendar_.begin(), std::prev(calendar_.upper_bound(std::max(host_ns_, calendar_.begin()->first))));
    while (calendar_.size() > max_moments) calendar_.erase(calendar_.begin());
}

Interval Timeline::copy(StreamId stream, Link link, std::uint64_t bytes, bool pinned, bool blocking) {
    const auto size = static_cast<double>(bytes);
    double duration_ns =
        costs_.link_latency_ns + size / (pinned ? costs_.pinned_bytes_per_ns : costs_.pageable_bytes_per_ns);
    if (link == Link::within_device)
        duration_ns =
            costs_.device_copy_latency_ns + 2 * size / (costs_.device_bytes_per_ns * costs_.device_efficiency);
    const Interval when = transfer(stream, link, duration_ns, blocking);
    keep({static_cast<TransferRecord::Kind>(link), stream, bytes, when});
    return when;
}

Interval Timeline::fill(StreamId stream, std::uint64_t bytes, bool blocking) {
    const double rate = costs_.device_bytes_per_ns * costs_.device_efficiency;
    const Interval when =
        transfer(stream, Link::within_device, costs_.fill_latency_ns + static_cast<double>(bytes) / rate, blocking);
    keep({TransferRecord::Kind::fill, stream, bytes, when});
    return when;
}

void Timeline::keep(const TransferRecord& transfer) { transfers_.add(transfer, device::RecordLimits::max_transfers); }

Interval Timeline::transfer(StreamId stream, Link engine, double duration_ns, bool blocking) {
    host_ns_ += costs_.copy_issue_ns;
    double& engine_free_ns = engine_free_ns_[static_cast<std::size_t>(engine)];
    Interval when;
    when.start_ns = std::max({host_ns_, ready(stream), engine_free_ns});
    when.end_ns = engine_free_ns = when.start_ns + duration_ns;
    streams_.at(stream).ready_ns = when.end_ns;
    if (blocking) wait_until(when.end_ns);
    return when;
}

void Timeline::load(std::uint64_t bytes) {
    const std::uint64_t before = std::max(module_bytes_, free_module_bytes);
    module_bytes_ += bytes;
    if (module_bytes_ > before) host_ns_ += static_cast<double>(module_bytes_ - before) / costs_.pageable_bytes_per_ns;
}

double Timeline::record(StreamId stream) {
    host_ns_ += costs_.copy_issue_ns;
    const double time = std::max(host_ns_, ready(stream));
    streams_.at(stream).ready_ns = time;
    return time;
}

void Timeline::wait(StreamId stream, double event_time_ns) {
    host_ns_ += costs_.copy_issue_ns;
    double& own = streams_.at(stream).ready_ns;
    own = std::max(own, event_time_ns);
}

double Timeline::finish() {
    host_ns_ = std::max(host_ns_, all_done());
    const double elapsed = host_ns_ - mark_ns_;
    mark_ns_ = host_ns_;
    return elapsed;
}

}  // namespace warpgrade::vgpu
