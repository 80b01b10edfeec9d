// JSON of what a device did, for verdicts, reports and programs that drive a device server.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "device/record.hpp"

namespace warpgrade::device {

nlohmann::json to_json(const Counters& counters);    // every counter
nlohmann::json to_json(const LaunchRecord& record);  // its lines hold counters other than zero only
nlohmann::json to_json(const DeviceProperties& properties);
// What is missing in the JSON is zero. Throws std::exception for what is none.
DeviceProperties properties_of(const std::string& text);
// With what its kind is; `device` as the command line names it.
nlohmann::json describe(const DeviceProperties& properties, std::string_view device);
std::string line_of(const DeviceProperties& properties, std::string_view device);  // for files without the optimiser
nlohmann::json to_json(const std::vector<TransferRecord>& transfers);
nlohmann::json to_json(const std::vector<AllocationRecord>& allocations);
nlohmann::json to_json(const std::vector<Diagnostic>& diagnostics);  // title and help of the rule included

// A text of the program's, as a name that C++ can make of a short one, with its end cut off where it is too long.
std::string shown(std::string_view text);
inline constexpr std::size_t max_shown_bytes = 4096;  // well below what a reader takes

// One line of JSON; bytes that are not UTF-8 (names come from submitted code) become U+FFFD.
std::string dump_line(const nlohmann::json& json);
// The same for a text that does not come as JSON.
std::string valid_text(std::string_view text);

}  // namespace warpgrade::device
