// What the device server reports to the judge about the work since the last take: launches, errors with explanations,
// printed text. It outlives the worker. Its size is bounded: a worker that floods it gets errors, and no launch is
// dropped silently.
#pragma once

#include <string>
#include <string_view>

#include "device/device.hpp"
#include "device/print_buffer.hpp"
#include "device/record_limits.hpp"
#include "device/report.hpp"
#include "server/device_names.hpp"

namespace warpgrade::server {

class Journal {
  public:
    [[nodiscard]] bool full() const { return report_.launches.size() >= RecordLimits::max_launches; }
    void add_launch(LaunchRecord record);
    void add_allocation(std::string_view call, std::uint64_t bytes);
    void add_error(std::string_view operation, int code, std::string_view message);
    void add(Diagnostic diagnostic);
    // For failures of the server itself, which never count as the submission's.
    void add_internal_error(std::string_view message);
    // Text of device-side printf, for both the judge and the worker's standard output.
    void print(const device::PrintedText& printed);

    [[nodiscard]] bool has_output() const { return !worker_output_.empty(); }
    std::string take_worker_output();

    // Empties the journal except for the internal error.
    Report take(double clock_ns = 0);

  private:
    Report report_;
    std::size_t lines_ = 0, line_bytes_ = 0;
    device::PrintBuffer output_{RecordLimits::max_output_bytes}, worker_output_{RecordLimits::max_output_bytes};
};

}  // namespace warpgrade::server
