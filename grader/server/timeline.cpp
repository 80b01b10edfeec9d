#include "server/timeline.hpp"

#include <algorithm>
#include <vector>

namespace warpgrade::device {
namespace {

// As many kernels as any device runs at once.
constexpr std::size_t max_concurrent_kernels = 128;

}  // namespace

void Timeline::add_stream(StreamId stream, bool blocking) { streams_[stream] = {host_ns_, blocking}; }

void Timeline::remove_stream(StreamId stream) {
    const auto found = streams_.find(stream);
    if (found == streams_.end() || stream == 0) return;
    retired_ns_ = std::max(retired_ns_, found->second.ready_ns);
    if (found->second.blocking) retired_blocking_ns_ = std::max(retired_blocking_ns_, found->second.ready_ns);
    streams_.erase(found);
}

// When work issued to the stream could start, were the device's resources free.
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
    if (waits_.size() < RecordLimits::max_waits)
        waits_.push_back(host_ns_);
    else
        missed_waits_ = true;
}

bool Timeline::reached(double time_ns) {
    host_ns_ += costs_.query_ns;
    if (time_ns > host_ns_) return false;
    wait_until(time_ns);
    return true;
}

Interval Timeline::kernel(StreamId stream, double duration_ns, double share) {
    host_ns_ += costs_.launch_issue_ns;
    share = std::clamp(share, 1e-6, 1.0);
    duration_ns = std::max(duration_ns, 0.0);
    Interval when;
    when.start_ns = kernel_start(std::max(host_ns_, ready(stream)), duration_ns, share);
    when.end_ns = when.start_ns + duration_ns;
    streams_.at(stream).ready_ns = when.end_ns;
    running_.push_back({when, share});
    return when;
}

// The first moment from which on the kernel fits beside those already placed. Load only falls where one of them ends,
// so only those moments come into question.
double Timeline::kernel_start(double earliest_ns, double duration_ns, double share) {
    std::erase_if(running_, [&](const Running& other) { return other.when.end_ns <= host_ns_; });
    while (running_.size() >= max_concurrent_kernels) {
        kernel_floor_ns_ = std::max(kernel_floor_ns_, running_.front().when.end_ns);
        running_.pop_front();
    }
    earliest_ns = std::max(earliest_ns, kernel_floor_ns_);
    std::vector<double> moments{earliest_ns};
    for (const Running& other : running_)
        if (other.when.end_ns > earliest_ns) moments.push_back(other.when.end_ns);
    std::sort(moments.begin(), moments.end());
    constexpr double full = 1 + 1e-9;  // shares such as three thirds add up to the device
    for (const double start : moments) {
        double load = share;
        for (const Running& other : running_)
            if (other.when.start_ns < start + duration_ns && other.when.end_ns > start) load += other.share;
        if (load <= full) return start;
    }
    return moments.back();  // every other kernel has ended by then
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

void Timeline::keep(const TransferRecord& transfer) {
    if (transfers_.size() < RecordLimits::max_transfers)
        transfers_.push_back(transfer);
    else
        missed_transfers_ = true;
}

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

}  // namespace warpgrade::device
