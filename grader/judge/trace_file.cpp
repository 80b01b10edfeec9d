#include "judge/trace_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "device/records.hpp"

namespace warpgrade::judge {

void TraceFile::take(const std::string& test, std::span<device::LaunchRecord> launches) {
    if (path_.empty()) return;
    std::ofstream file(path_, std::ios::app | std::ios::binary);
    for (device::LaunchRecord& launch : launches) {
        if (!launch.trace) continue;
        const nlohmann::json record = device::to_json(launch);
        launch.trace.reset();
        const auto line = device::dump_line({{"test", test},
                                             {"kernel", record["kernel"]},
                                             {"name", record["name"]},
                                             {"grid", record["grid"]},
                                             {"block", record["block"]},
                                             {"trace", record["trace"]}});
        if (bytes_ + line.size() > max_bytes) continue;
        bytes_ += line.size() + 1;
        file << line << '\n';
    }
}

}  // namespace warpgrade::judge
