// A copy or fill as it stands in the records (a kernel's place on the clock is in its LaunchRecord).
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace warpgrade::device {

struct Interval {  // of the modelled clock
    double start_ns = 0, end_ns = 0;
};

struct TransferRecord {
    enum class Kind { to_device, to_host, within_device, fill } kind;
    StreamId stream = 0;
    std::uint64_t bytes = 0;
    Interval when;
};

}  // namespace warpgrade::device
