#include "vgpu/model/clocked_device.hpp"

#include <algorithm>

namespace warpgrade::vgpu {

std::optional<double> ClockedDevice::elapsed_ns(device::EventId start, device::EventId end) {
    const double start_ns = time_of(start), end_ns = time_of(end);
    if (!timeline_.reached(std::max(start_ns, end_ns))) return std::nullopt;
    return end_ns - start_ns;
}

void ClockedDevice::schedule_transfer(const device::TransferTime& transfer) {
    using Kind = device::TransferTime::Kind;
    if (transfer.kind == Kind::fill)
        timeline_.fill(transfer.stream, transfer.bytes, transfer.blocking);
    else
        timeline_.copy(transfer.stream, static_cast<Timeline::Link>(transfer.kind), transfer.bytes,
                       transfer.page_locked, transfer.blocking);
}

void ClockedDevice::place(device::LaunchRecord& record, double duration_ns, const Demand& demand) {
    const double resident =
        static_cast<double>(record.occupancy.blocks_per_multiprocessor) * properties().multi_processor_count;
    const double share = resident > 0 ? static_cast<double>(record.config.grid.count()) / resident : 1;
    const device::Interval when = timeline_.kernel(record.config.stream, duration_ns, share, demand);
    record.start_ns = when.start_ns;
    // A launch that runs alone takes exactly its own duration, without rounding.
    record.duration_ns = when.end_ns == when.start_ns + duration_ns ? duration_ns : when.end_ns - when.start_ns;
}

}  // namespace warpgrade::vgpu
