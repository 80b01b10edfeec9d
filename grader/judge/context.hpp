// What the running judge knows: its options, and the state of the test that runs now.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/checks.hpp"
#include "device/device.hpp"
#include "judge/options.hpp"
#include "judge/random.hpp"
#include "judge/submission.hpp"

namespace warpgrade::judge {

class DeviceServer;

struct Measurement {
    std::string name;
    double value;
    std::string unit;
};

struct Context {
    Options options;
    device::Checks checks;
    std::uint64_t seed = 0;
    std::unique_ptr<DeviceServer> idle_device;  // started to describe itself; the first session takes it
    std::unique_ptr<Program> submission, baseline;

    // Of the running test.
    std::optional<RandomStream> stream;
    std::vector<Measurement> measurements;
    std::vector<device::LaunchRecord> launches;   // of the submission's last profiled call
    std::vector<device::Diagnostic> diagnostics;  // of all of the submission's calls, each finding once
    std::string last_call;                        // described
    std::vector<std::string> notes;               // what may explain a wrong result of the last call
    std::vector<std::string> review;              // what a person should look at; fixed texts, without data
    std::string mismatch;                         // of the last matcher that did not match
    std::string failure;                          // the same, with the name of what was looked at

    void begin_test(const std::string& name);
    void end_test();
};

Context& context();

}  // namespace warpgrade::judge
