// The modelled clock of a device: when each kernel and copy would have started and ended, had the host issued the same
// calls to the real one. Work of one stream runs in order; the legacy default stream (0) waits for all blocking streams
// and they for it; copies of one direction share a link, kernels share the multiprocessors. The host's own computing
// takes no time, so that the clock depends on the calls alone: it is the same on every machine and on every run.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/device.hpp"

namespace warpgrade::device {

// Costs outside the kernels. The constants were measured on an H100 (PCIe 5, driver 580, CUDA 13.0).
struct HostCosts {
    double launch_issue_ns = 2900;  // host time of one asynchronous launch; bounds the rate of small kernels
    double copy_issue_ns = 1000;    // host time of an asynchronous copy or fill, of recording or waiting for an event
    double query_ns = 260;          // host time of asking whether work is done
    double wake_ns = 2500;          // from the end of the work until the waiting host goes on
    double link_latency_ns = 2200;  // fixed part of a copy between host and device
    double device_copy_latency_ns = 3900;  // fixed part of a copy within the device
    double fill_latency_ns = 1500;
    double pinned_bytes_per_ns = 55;    // link rate for page-locked host memory
    double pageable_bytes_per_ns = 16;  // through the driver's staging buffer
    // What kernels move over the link themselves. Memory that moves on a fault goes as fast on all of them.
    double mapped_read_bytes_per_ns = 50, mapped_write_bytes_per_ns = 52;
    double migration_bytes_per_ns = 9, migration_latency_ns = 80000;
    double device_bytes_per_ns = 3350;  // traffic in device memory; a copy both reads and writes
    double device_efficiency = 0.89;    // share of it that copies and fills reach

    static HostCosts of(const DeviceProperties& properties);
};

inline HostCosts HostCosts::of(const DeviceProperties& properties) {
    HostCosts costs;
    // One generation of PCIe a step: 5 on Hopper and later, 4 on Ampere and Ada, 3 on Volta and Turing, 2 or 3 before.
    // Pageable copies are bound by the host's memcpy where the link is not slower.
    costs.pinned_bytes_per_ns = properties.major >= 9   ? 55
                                : properties.major == 8 ? 25
                                : properties.major == 7 ? 12.5
                                                        : 6;
    costs.mapped_read_bytes_per_ns *= costs.pinned_bytes_per_ns / 55;
    costs.mapped_write_bytes_per_ns *= costs.pinned_bytes_per_ns / 55;
    costs.migration_bytes_per_ns = std::min(costs.migration_bytes_per_ns, costs.pinned_bytes_per_ns);
    costs.pageable_bytes_per_ns = std::min(16.0, costs.pinned_bytes_per_ns * 0.6);
    if (properties.dram_bytes_per_ns > 0) costs.device_bytes_per_ns = properties.dram_bytes_per_ns;
    return costs;
}

class Timeline {
  public:
    enum class Link { to_device, to_host, within_device };
    struct Interval {
        double start_ns = 0, end_ns = 0;
    };
    // A copy or fill (a kernel's place is in its LaunchRecord).
    struct Transfer {
        enum class Kind { to_device, to_host, within_device, fill } kind;
        StreamId stream = 0;
        std::uint64_t bytes = 0;
        Interval when;
    };
    // Transfers and waits kept between two takes; further ones count in the clock, but are not listed.
    // Bytes of modules that are loaded at no cost: more than the code of a lab has, and a few microseconds' worth.
    static constexpr std::uint64_t free_module_bytes = 64 << 10;
    static constexpr std::size_t max_transfers = 65536, max_waits = 65536;

    explicit Timeline(const HostCosts& costs) : costs_(costs) { streams_[0] = {}; }

    void add_stream(StreamId stream, bool blocking);
    void remove_stream(StreamId stream);

    // `share` in (0, 1] is the part of the device that the kernel fills: kernels of different streams overlap as long
    // as their shares fit.
    Interval kernel(StreamId stream, double duration_ns, double share);
    Interval copy(StreamId stream, Link link, std::uint64_t bytes, bool pinned, bool blocking);
    Interval fill(StreamId stream, std::uint64_t bytes, bool blocking);

    // The host waits until a module is on the device. What it is small enough for costs nothing: a program's own code.
    void load(std::uint64_t bytes);

    double record(StreamId stream);                    // the time at which an event recorded now is done
    void wait(StreamId stream, double event_time_ns);  // later work of the stream starts after that

    void synchronize_stream(StreamId stream) { wait_until(ready(stream)); }
    void synchronize_device() { wait_until(all_done()); }
    void synchronize_until(double event_time_ns) { wait_until(event_time_ns); }
    // What a program has not asked for, as cudaFree's: it waits as well, but is not listed among the waits.
    void drain() { wake_at(all_done()); }
    // Has it happened by now? Asking takes the host some time, so that polling ends.
    bool reached(double time_ns);
    bool stream_done(StreamId stream) { return reached(ready(stream)); }

    [[nodiscard]] double host_ns() const { return host_ns_; }
    // Waits for everything and returns the time since the last call (or the start). Not a host operation.
    double finish();
    // Those since the last call, in the order of issue.
    std::vector<Transfer> take_transfers() { return std::exchange(transfers_, {}); }
    // When the host knew that work was done since it had waited for it: the ends of synchronising calls and of blocking
    // transfers, and of queries that were answered with yes. Those since the last call.
    std::vector<double> take_waits() { return std::exchange(waits_, {}); }
    // Whether some were left out since the last call of these.
    bool take_missed_transfers() { return std::exchange(missed_transfers_, false); }
    bool take_missed_waits() { return std::exchange(missed_waits_, false); }

  private:
    struct Stream {
        double ready_ns = 0;
        bool blocking = true;
    };

    [[nodiscard]] double ready(StreamId stream) const;
    [[nodiscard]] double all_done() const;
    void wake_at(double time_ns);
    void wait_until(double time_ns);
    Interval transfer(StreamId stream, Link engine, double duration_ns, bool blocking);
    void keep(const Transfer& transfer);
    [[nodiscard]] double kernel_start(double earliest_ns, double duration_ns, double share);

    struct Running {
        Interval when;
        double share = 1;
    };

    HostCosts costs_;
    std::unordered_map<StreamId, Stream> streams_;
    double retired_blocking_ns_ = 0, retired_ns_ = 0;  // work of destroyed streams
    std::array<double, 3> engine_free_ns_{};           // by Link
    std::deque<Running> running_;                      // kernels that may still run at host_ns_
    double kernel_floor_ns_ = 0;                       // no kernel starts before: the end of those forgotten
    double host_ns_ = 0, mark_ns_ = 0;
    std::uint64_t module_bytes_ = 0;
    std::vector<Transfer> transfers_;
    std::vector<double> waits_;
    bool missed_transfers_ = false, missed_waits_ = false;
};

}  // namespace warpgrade::device
