// The modelled clock of a device: when each kernel and copy would have started and ended if the host had issued the
// same calls to a real one. Work of one stream runs in order. The legacy default stream (0) and all blocking streams
// wait for each other. Copies of one direction share a link; kernels share the multiprocessors and everything behind
// them. The host's own computing takes no time, so the clock depends only on the calls and is the same on every machine
// and in every run.
//
// Concurrent kernels: a calendar records how much of each resource is in use at which time. A kernel alone needs the
// same share of a resource from start to end. A later kernel gets what earlier ones leave: if that is less than it
// needs of any resource, it runs slower in proportion and ends later. So no resource is ever more than fully used, and
// kernels together take at least the sum of their needs of any one resource. Blocks need room too: a kernel starts when
// there is room for its resident blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "device/record.hpp"
#include "device/record_limits.hpp"
#include "vgpu/model/demand.hpp"
#include "vgpu/model/host_costs.hpp"

namespace warpgrade::vgpu {

using device::Interval;
using device::StreamId;
using device::TransferRecord;

class Timeline {
  public:
    enum class Link { to_device, to_host, within_device };
    // Modules are loaded free of charge up to this total: more than the code of a lab (step: 190 KiB), and worth 16
    // microseconds.
    static constexpr std::uint64_t free_module_bytes = 256 << 10;

    explicit Timeline(const HostCosts& costs) : costs_(costs) { streams_[0] = {}; }

    void add_stream(StreamId stream, bool blocking);
    void remove_stream(StreamId stream);

    // `duration_ns` is the kernel's time alone, no less than any entry of `demand`. `share` in (0, 1] is the part of
    // the device's room for blocks that it fills.
    Interval kernel(StreamId stream, double duration_ns, double share, const Demand& demand = {});
    Interval copy(StreamId stream, Link link, std::uint64_t bytes, bool pinned, bool blocking);
    Interval fill(StreamId stream, std::uint64_t bytes, bool blocking);

    // The host waits until a module is on the device. Small modules, such as a program's own code, are free.
    void load(std::uint64_t bytes);

    double record(StreamId stream);                    // returns the time at which an event recorded now is done
    void wait(StreamId stream, double event_time_ns);  // later work of the stream starts after that time

    void synchronize_stream(StreamId stream) { wait_until(ready(stream)); }
    void synchronize_device() { wait_until(all_done()); }
    void synchronize_until(double event_time_ns) { wait_until(event_time_ns); }
    // A wait that the program did not ask for, as in cudaFree. It is not listed among the waits.
    void drain() { wake_at(all_done()); }
    // True if the time has passed. Each query takes the host some time, so that polling ends.
    bool reached(double time_ns);
    bool stream_done(StreamId stream) { return reached(ready(stream)); }

    [[nodiscard]] double host_ns() const { return host_ns_; }
    // Waits for everything and returns the time since the last call (or the start). Not a host operation.
    double finish();
    // The transfers since the last call, in the order of issue.
    device::BoundedList<TransferRecord> take_transfers() { return std::exchange(transfers_, {}); }
    // The times at which the host learned, by waiting, that work was done: the ends of synchronising calls, of blocking
    // transfers and of successful queries since the last call.
    device::BoundedList<double> take_waits() { return std::exchange(waits_, {}); }

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
    void keep(const TransferRecord& transfer);

    // Shares of the device, 0 to 1.
    struct Use {
        Demand resources{};
        double room = 0;
    };
    [[nodiscard]] static double relative_speed(const Use& others, const Use& own);
    [[nodiscard]] Interval find_place(double earliest_ns, double duration_ns, const Use& own) const;
    void book(const Interval& when, const Use& own);
    std::map<double, Use>::iterator cut_at(double time_ns);
    void trim_calendar();

    HostCosts costs_;
    std::unordered_map<StreamId, Stream> streams_;
    double retired_blocking_ns_ = 0, retired_ns_ = 0;  // work of destroyed streams
    std::array<double, 3> engine_free_ns_{};           // by Link
    std::map<double, Use> calendar_{{0, {}}};          // use by kernels from each time to the next; none after the last
    double host_ns_ = 0, mark_ns_ = 0;
    std::uint64_t module_bytes_ = 0;
    device::BoundedList<TransferRecord> transfers_;
    device::BoundedList<double> waits_;
};

}  // namespace warpgrade::vgpu
