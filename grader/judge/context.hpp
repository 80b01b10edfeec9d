// What the running judge knows: its options, and the state of the test that runs now.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/checks.hpp"
#include "device/device.hpp"
#include "judge/options.hpp"
#include "judge/random.hpp"
#include "judge/submission.hpp"

namespace warpgrade::judge {

class BaselineCache;
class DeviceServer;

struct Measurement {
    std::string name;
    double value;
    std::string unit;
};

// An output of the submission's last call.
struct LastOutput {
    std::string name;  // of the parameter, as the contract has it
    wire::Kind kind = wire::Kind::out;
    std::vector<std::byte> before, after;  // before: of out arguments
    bool as_before = false;                // nothing has changed in it
};

// "C was never written: …", of an output that came back as it was.
std::string never_written(const LastOutput& output);

// What the kernels of the submission's last call did for its outputs.
enum class KernelWork { unknown, not_launched, nothing_written, written };

// A function of the submission that took longer than it may.
struct Hang {
    std::string test;  // in which it first did
    unsigned count = 0;
};

struct Context {
    Context();
    ~Context();
    Options options, timing;  // timing: the same for the device that times
    device::DeviceProperties device;
    device::Checks checks;
    std::uint64_t seed = 0;
    std::unique_ptr<DeviceServer> idle_device;  // started to describe itself; the submission's first session takes it
    std::unique_ptr<BaselineCache> baseline_cache;
    std::unique_ptr<Program> submission, baseline;

    std::map<std::string, std::vector<std::string>> parameters;  // names of each function's
    std::map<std::string, Hang> hangs;                           // by function; "": before the first call
    std::set<std::string> to_blame;                              // functions that are known to decide by their inputs

    // Of the running test.
    KernelWork kernels = KernelWork::unknown;
    // Rules whose findings the test asks for: nobody's mistake.
    std::vector<const device::Rule*> expected_findings;
    std::string test;
    std::optional<RandomStream> stream;
    std::vector<Measurement> measurements;
    std::vector<device::LaunchRecord> launches;   // of the submission's last profiled call
    std::vector<device::Diagnostic> diagnostics;  // of all of the submission's calls, each finding once
    std::string last_call;                        // described
    std::vector<std::string> notes;               // what may explain a wrong result of the last call
    std::vector<std::string> review;              // what a person should look at; fixed texts, without data
    std::string mismatch;                         // of the last matcher that did not match
    std::string failure;                          // the same, with the name of what was looked at
    double part = 1;                              // of the test's points, where what it measures is nearly good
    std::string why_part;                         // in words, where it is less than 1
    std::string pending;                          // what of the test no device tells, in words; empty: nothing
    std::vector<LastOutput> outputs;              // of the submission's last call
    std::vector<std::string> signs;               // what is known of the failure: names from signs.hpp
    bool signs_settled = false;                   // those of a test's first failure stay: its message comes first
    std::vector<std::uint64_t> stopped_at;        // where host code was when its time was up: places in its file

    void begin_test(const std::string& name);
    void end_test();
    void add_sign(std::string_view name);
    // The one output that holds just these bytes, if there is one.
    [[nodiscard]] const LastOutput* output_that_holds(std::span<const std::byte> bytes) const;
};

Context& context();

}  // namespace warpgrade::judge
