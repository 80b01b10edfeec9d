// What a device server tells of the work since it was last asked: its answer to "take". Programs and people read it as
// JSON; judges, which ask thousands of times, as bytes (packing.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "device/origin.hpp"
#include "device/record.hpp"

namespace warpgrade::device {

struct CallError {  // a call that failed
    std::string operation;
    int code = 0;
    std::string message;  // in the words of the device
};

struct Report {
    bool analysed = true;  // false: of launches it is known that there were, and of nothing else what it did
    std::vector<LaunchRecord> launches;
    std::vector<TransferRecord> transfers;
    std::vector<AllocationRecord> allocations;
    std::vector<double> waits_ns;
    double clock_ns = 0;
    std::string output;  // of device-side printf
    std::vector<CallError> call_errors;
    std::optional<CallError> last_error;  // in JSON only
    std::vector<Diagnostic> diagnostics;
    std::optional<OriginVerdict> origin;  // if it was asked for, and the device keeps it
    std::set<std::string> truncated;      // which of these are not complete
    bool connected = false;               // the program's end of its connection is still open
    std::string internal_error;           // the server's own; empty: none
};

nlohmann::json to_json(const Report& report);

std::string packed(const Report& report);
// Throws std::exception for what is no report.
Report unpacked(std::string_view bytes);

}  // namespace warpgrade::device
