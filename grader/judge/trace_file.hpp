// The accesses of memory that the device recorded (device/access_trace.hpp), for pictures: one JSON object a launch.
// They are apart from the verdicts, which are the same without them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "device/record.hpp"

namespace warpgrade::judge {

class TraceFile {
  public:
    static constexpr std::size_t max_bytes = 32 << 20;

    // Adds to the file; records nothing if its name is "".
    explicit TraceFile(std::string path) : path_(std::move(path)) {}
    // Takes the accesses out of the launches and writes them.
    void take(const std::string& test, std::span<device::LaunchRecord> launches);

  private:
    std::string path_;
    std::size_t bytes_ = 0;
};

}  // namespace warpgrade::judge
