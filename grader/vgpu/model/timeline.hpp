// The modelled clock of a device: when each kernel and copy would have started and ended, had the host issued the same
// calls to the real one. Work of one stream runs in order; the legacy default stream (0) waits for all blocking streams
// and they for it; copies of one direction share a link, kernels share the multiprocessors and all that lies behind
// them. The host's own computing takes no time, so that the clock depends on the calls alone: it is the same on every
// machine and on every run.
//
// Kernels that run at the same time: a calendar says how much of each resource is in use when. A kernel alone needs the
// same part of a resource from its start to its end. A later one gets what the earlier ones leave: where that is less
// of any resource than it needs, it runs slower by as much, and ends later. So no resource is ever used more than
// fully, and kernels together take at least as long as the sum of what they need of any one resource. Blocks need room
// as well: a kernel begins where there is room for all that it keeps resident.
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
    // Bytes of modules that are loaded at no cost: more than the code of a lab has (step: 190 KiB), and the worth of 16
    // microseconds.
    static constexpr std::uint64_t free_module_bytes = 256 << 10;

    explicit Timeline(const HostCosts& costs) : costs_(costs) { streams_[0] = {}; }

    void add_stream(StreamId stream, bool blocking);
    void remove_stream(StreamId stream);

    // `duration_ns`: how long the kernel takes alone; no less than any of `demand`. `share` in (0, 1]: the part of the
    // device's room for blocks that it fills.
    Interval kernel(StreamId stream, double duration_ns, double share, const Demand& demand = {});
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
    device::BoundedList<TransferRecord> take_transfers() { return std::exchange(transfers_, {}); }
    // When the host knew that work was done since it had waited for it: the ends of synchronising calls and of blocking
    // transfers, and of queries that were answered with yes. Those since the last call.
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

    // Parts of what the device has, 0 to 1.
    struct Use {
        Demand resources{};
        double room = 0;
    };
    [[nodiscard]] static double speed_beside(const Use& others, const Use& own);
    [[nodiscard]] Interval find_place(double earliest_ns, double duration_ns, const Use& own) const;
    void book(const Interval& when, const Use& own);
    std::map<double, Use>::iterator cut_at(double time_ns);
    void forget_past();

    HostCosts costs_;
    std::unordered_map<StreamId, Stream> streams_;
    double retired_blocking_ns_ = 0, retired_ns_ = 0;  // work of destroyed streams
    std::array<double, 3> engine_free_ns_{};           // by Link
    std::map<double, Use> calendar_{{0, {}}};          // of kernels: from each moment to the next one; nothing at last
    double host_ns_ = 0, mark_ns_ = 0;
    std::uint64_t module_bytes_ = 0;
    device::BoundedList<TransferRecord> transfers_;
    device::BoundedList<double> waits_;
};

}  // namespace warpgrade::vgpu
