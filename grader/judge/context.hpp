// The judge's global state: its options, and the state of the running test.
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

// A number that a test held against a limit. Both are finite.
struct Check {
    std::string name;
    double now;
    std::string unit, relation;  // relation: "is", "at most", "at least", "below" or "between"
    double limit;
    std::optional<double> upper;  // of "between"
    std::string words;            // where the limit comes from
    const char* outcome;          // "pass", "part" or "fail"
};
inline constexpr std::size_t max_checks = 256;  // of a test in its verdict

// An output of the submission's last call.
struct LastOutput {
    std::string name;  // of the parameter in the contract
    wire::Kind kind = wire::Kind::out;
    std::vector<std::byte> before, after;  // the call; `before` for out arguments only
    bool unchanged = false;                // the call did not change it
};

// "C was never written: …"
std::string explain_unwritten(const LastOutput& output);

// What the kernels of the submission's last call did for its outputs.
enum class KernelWork { unknown, not_launched, nothing_written, written };

// A function of the submission that exceeded its time limit.
struct Hang {
    std::string test;  // the first one
    unsigned count = 0;
};

// Device servers whose session has ended, or that were started ahead, by the name of their sandbox. Their processes
// serve the next test's session: to start others takes longer than many a test.
class IdleDevices {
  public:
    void keep(const std::string& name, std::unique_ptr<DeviceServer> device);
    // Returns one that is ready for a session; null if there is none, or if it does not answer.
    std::unique_ptr<DeviceServer> take(const std::string& name);
    // Of their processes.
    [[nodiscard]] double processor_seconds() const;

  private:
    std::map<std::string, std::unique_ptr<DeviceServer>> devices_;
};

struct Context {
    Context();
    ~Context();
    Options options, timing;  // timing: the same with the timing device
    device::DeviceProperties device;
    device::Checks checks;
    std::uint64_t seed = 0;
    IdleDevices idle_devices;
    std::unique_ptr<BaselineCache> baseline_cache;
    std::unique_ptr<Program> submission, baseline;

    std::map<std::string, std::vector<std::string>> parameters;  // names, by function
    std::map<std::string, Hang> hangs;                           // by function; "": before the first call
    std::set<std::string> value_dependent;                       // functions known to depend on their inputs' values

    // Of the running test.
    KernelWork kernels = KernelWork::unknown;
    std::vector<const device::Rule*> expected_findings;
    std::string test;
    std::optional<RandomStream> stream;
    std::vector<Measurement> measurements;
    std::vector<Check> checked;
    std::vector<device::LaunchRecord> launches;   // of the submission's last profiled call
    std::vector<device::Diagnostic> diagnostics;  // of all of the submission's calls, each finding once
    std::set<std::string> called;                 // the submission's functions
    std::map<std::string, std::string> faulty;   // those in whose calls the checks found an error: the first one's rule
    std::string last_call;                       // its description
    std::vector<std::string> notes;              // possible causes of a wrong result of the last call
    std::vector<std::string> review;             // reasons for a human review; fixed texts, without data
    std::string mismatch;                        // message of the last failed matcher
    std::string failure;                         // the same, with the name of the checked value
    double part = 1;                             // of the test's points, for a value within a band
    std::string part_reason;                     // if `part` is less than 1
    std::string pending;                         // what no device can tell; empty if nothing
    std::vector<LastOutput> outputs;             // of the submission's last call
    std::vector<device::LaunchConfig> launched;  // by it
    std::vector<std::byte> returned;             // by the submission's last call
    bool is_timed = false;                       // on the timing device, if there is one
    bool in_orders = false;                      // outputs are compared with those of other orders (judge/orders.hpp)
    std::vector<std::string> signs;              // of the failure: names from signs.hpp
    bool signs_final = false;                    // the test's first failure set them; its message comes first
    std::vector<std::uint64_t> stopped_at;       // stack of the host code at a time-out: places in the program's file

    // `compare_orders`: for in_orders. `timed`: for is_timed.
    void begin_test(const std::string& name, bool compare_orders = false, bool timed = false);
    void end_test();
    void add_sign(std::string_view name);
    // The output with exactly these bytes; null if there is none or more than one.
    [[nodiscard]] const LastOutput* find_output(std::span<const std::byte> bytes) const;
};

Context& context();

}  // namespace warpgrade::judge
