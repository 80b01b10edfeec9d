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
nlohmann::json to_json(const LaunchRecord& record);  // its lines list only the counters that are not zero
nlohmann::json to_json(const DeviceProperties& properties);
// Missing fields are zero. Throws std::exception if the JSON is invalid.
DeviceProperties parse_properties(const std::string& text);
// One line of JSON with the properties and the kind of `device`, which is named as on the command line.
std::string describe(const DeviceProperties& properties, std::string_view device);
nlohmann::json to_json(const std::vector<TransferRecord>& transfers);
nlohmann::json to_json(const std::vector<AllocationRecord>& allocations);
nlohmann::json to_json(const std::vector<Diagnostic>& diagnostics);  // title and help of the rule included

// Cuts off the end of a text that is too long: C++ can make very long names from short programs.
std::string shorten(std::string_view text);
inline constexpr std::size_t max_string_bytes = 4096;  // well below what a reader accepts

// One line of JSON; bytes that are not UTF-8 become U+FFFD, since names come from submitted code.
std::string dump_line(const nlohmann::json& json);
// The same replacement in a plain text.
std::string to_valid_utf8(std::string_view text);

}  // namespace warpgrade::device
