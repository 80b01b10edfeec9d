// The device server's answer to "take": the work since the last one. Programs and people read it as JSON. Judges ask
// thousands of times and read it as bytes (packing.hpp).
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
    std::string message;
};

struct Report {
    bool analysed = true;  // false: only the existence of launches is known
    std::vector<LaunchRecord> launches;
    std::vector<TransferRecord> transfers;
    std::vector<AllocationRecord> allocations;
    std::vector<double> waits_ns;
    double clock_ns = 0;
    std::optional<double> mean_clock_ghz;  // Device::mean_clock_ghz()
    std::string output;                    // of device-side printf
    std::vector<CallError> call_errors;
    std::optional<CallError> last_error;  // in JSON only
    std::vector<Diagnostic> diagnostics;
    std::optional<OriginVerdict> origin;  // if the judge asked for it and the device keeps origins
    std::set<std::string> truncated;      // names of the incomplete lists
    bool connected = false;               // the program has not closed its connection
    std::string internal_error;           // of the server itself; empty if none
};

nlohmann::json to_json(const Report& report);

std::string pack_report(const Report& report);
// Throws std::exception if the bytes are no report.
Report unpack_report(std::string_view bytes);

}  // namespace warpgrade::device
