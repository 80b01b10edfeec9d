// JSON of what a device did, for the control socket, verdicts and reports. Reading is for texts that a damaged or
// captured process may have written: every defect is a RecordError, never a half-read record.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "device/device.hpp"
#include "device/transfer.hpp"

namespace warpgrade::device {

class RecordError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

nlohmann::json to_json(const Counters& counters);    // every counter
nlohmann::json to_json(const LaunchRecord& record);  // its lines hold counters other than zero only
// The same in fewer words, for a judge that takes thousands of them: counters other than zero as [row of counters.def,
// value, row, value, …], lines as [file, line, counters].
nlohmann::json to_compact_json(const LaunchRecord& record);
nlohmann::json to_json(const DeviceProperties& properties);
std::string line_of(const DeviceProperties& properties);  // for files that are compiled without the optimiser
nlohmann::json to_json(const std::vector<TransferRecord>& transfers);
nlohmann::json to_json(const std::vector<AllocationRecord>& allocations);
nlohmann::json to_json(const std::vector<Diagnostic>& diagnostics);  // title and help of the rule included

// Either form. Missing counters are zero; an unknown one is an error.
Counters counters_from_json(const nlohmann::json& json);
LaunchRecord launch_record_from_json(const nlohmann::json& json);
std::vector<TransferRecord> transfers_from_json(const nlohmann::json& json);
std::vector<AllocationRecord> allocations_from_json(const nlohmann::json& json);
std::vector<Diagnostic> diagnostics_from_json(const nlohmann::json& json);
std::vector<double> waits_from_json(const nlohmann::json& json);
DeviceProperties properties_from_json(const nlohmann::json& json);

// A whole number that fits T; the library's own conversion of other numbers is undefined.
template <class T>
T integer_from_json(const nlohmann::json& json, const char* name);
// A text of the program's, as a name that C++ can make of a short one, with its end cut off where it is too long.
std::string shown(std::string_view text);

// One line of JSON; bytes that are not UTF-8 (names come from submitted code) become U+FFFD.
std::string dump_line(const nlohmann::json& json);

}  // namespace warpgrade::device
