// The modelled time of a Device: streams, events, and how long work takes. A device that computes derives from it.
#pragma once

#include <optional>
#include <unordered_map>

#include "device/analysis.hpp"
#include "device/device.hpp"
#include "vgpu/model/demand.hpp"
#include "vgpu/model/timeline.hpp"

namespace warpgrade::vgpu {

class ClockedDevice : public device::Device, public device::Analysis {
  public:
    explicit ClockedDevice(const HostCosts& costs) : timeline_(costs) {}

    [[nodiscard]] Analysis* analysis() override { return this; }

    void create_stream(device::StreamId stream, bool blocking) override { timeline_.add_stream(stream, blocking); }
    void destroy_stream(device::StreamId stream) override { timeline_.remove_stream(stream); }
    bool query_stream(device::StreamId stream) override { return timeline_.stream_done(stream); }
    void synchronize_stream(device::StreamId stream) override { timeline_.synchronize_stream(stream); }
    void record_event(device::EventId event, device::StreamId stream) override {
        event_ns_[event] = timeline_.record(stream);
    }
    void wait_for_event(device::StreamId stream, device::EventId event) override {
        if (const auto found = event_ns_.find(event); found != event_ns_.end()) timeline_.wait(stream, found->second);
    }
    bool query_event(device::EventId event) override { return timeline_.reached(time_of(event)); }
    void synchronize_event(device::EventId event) override { timeline_.synchronize_until(time_of(event)); }
    void forget_event(device::EventId event) override { event_ns_.erase(event); }
    std::optional<double> elapsed_ns(device::EventId start, device::EventId end) override;
    void synchronize_device() override { timeline_.synchronize_device(); }
    void drain() override { timeline_.drain(); }
    void schedule_transfer(const device::TransferTime& transfer) override;
    double finish() override { return timeline_.finish(); }

    device::BoundedList<device::TransferRecord> take_transfers() override { return timeline_.take_transfers(); }
    device::BoundedList<double> take_waits() override { return timeline_.take_waits(); }

  protected:
    // The host waits until a module of this size is on the device.
    void loaded(std::uint64_t bytes) { timeline_.load(bytes); }
    // Schedules the launch on the clock. Alone it takes `duration_ns`, during which it needs each of the device's
    // resources for as long as `demand` says.
    void place(device::LaunchRecord& record, double duration_ns, const Demand& demand);

  private:
    [[nodiscard]] double time_of(device::EventId event) const {
        const auto found = event_ns_.find(event);
        return found == event_ns_.end() ? 0 : found->second;
    }
    Timeline timeline_;
    std::unordered_map<device::EventId, double> event_ns_;  // times of the recorded events
};

}  // namespace warpgrade::vgpu
