// What the device server tells the judge about the work since it last asked: launches, errors with their explanations,
// printed text. It outlives the worker. All of it is bounded: a worker that floods it gets errors, the server never
// drops a launch in silence.
#pragma once

#include <string>
#include <string_view>

#include "device/device.hpp"
#include "device/record_limits.hpp"
#include "device/report.hpp"

namespace warpgrade::device {

class Journal {
  public:
    [[nodiscard]] bool full() const { return report_.launches.size() >= RecordLimits::max_launches; }
    void add_launch(LaunchRecord record);
    void add_allocation(std::string_view call, std::uint64_t bytes);
    void add_error(std::string_view operation, int code, std::string_view message);
    // What a check found. The same at the same places again is counted, not listed.
    void add(Diagnostic diagnostic);
    // The server's own trouble, never the submission's failure.
    void add_internal_error(std::string_view message);
    // Text of device-side printf: once for the judge, once for the worker's standard output.
    void print(std::string_view text);

    [[nodiscard]] bool has_output() const { return !worker_output_.empty(); }
    std::string take_worker_output();

    // All of it, and leaves an empty journal but for the server's own trouble.
    Report take(double clock_ns = 0);

  private:
    Report report_;
    std::size_t lines_ = 0, line_bytes_ = 0;
    std::string worker_output_;
};

}  // namespace warpgrade::device
