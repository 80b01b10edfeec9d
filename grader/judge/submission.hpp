// The programs under test, as handles: submission() is the student's, baseline() the unmodified starter.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "device/record.hpp"
#include "judge/arguments.hpp"
#include "judge/process.hpp"

namespace warpgrade::judge {

namespace detail {
[[noreturn]] void fail_truncated(const char* what, std::size_t kept);
[[noreturn]] void not_known(const char* what);
}  // namespace detail

// A list of what a program did, which the device bounds. Who looks at one that is not complete fails the test: what is
// missing might be what the test is about. Of a device that tells nothing, who looks learns that it is not known.
enum class Kept : std::uint8_t { all, not_all, unknown };
template <class T>
class Record {
  public:
    Record() = default;
    Record(std::vector<T> items, const char* what = "", Kept kept = Kept::all)  // NOLINT: a list is one
        : items_(std::move(items)), what_(what), kept_(kept) {}
    [[nodiscard]] const std::vector<T>& all() const {
        if (kept_ == Kept::unknown) detail::not_known(what_);
        if (kept_ == Kept::not_all) detail::fail_truncated(what_, items_.size());
        return items_;
    }
    [[nodiscard]] auto begin() const { return all().begin(); }
    [[nodiscard]] auto end() const { return all().end(); }
    [[nodiscard]] std::size_t size() const { return all().size(); }
    [[nodiscard]] bool empty() const { return all().empty(); }
    [[nodiscard]] const T& operator[](std::size_t i) const { return all()[i]; }
    [[nodiscard]] const T& front() const { return all().front(); }
    [[nodiscard]] const T& back() const { return all().back(); }

  private:
    std::vector<T> items_;
    const char* what_ = "";
    Kept kept_ = Kept::all;
};

// What the device did during one call.
struct Profile {
    // Those from which the outputs come, and those that did something else.
    std::vector<device::LaunchRecord> launches, not_part;
    // Copies and fills, memory that was allocated, and when the program had waited for the device: in order of issue,
    // 65,536, 16,384 and 65,536 of them at most. Times are on the clock of launches' start_ns.
    Record<device::TransferRecord> transfers;
    Record<device::AllocationRecord> allocations;
    Record<double> waits_ns;
    double time_ns = 0;  // of the device's clock
    std::string device_output;
    Record<device::Diagnostic> diagnostics;  // what the device's checks found; clean() in diagnostics.hpp

    // The only launch; with a name, the only one whose kernel's name contains it. Fails the test when there is none or
    // more than one.
    [[nodiscard]] const device::LaunchRecord& kernel(std::string_view name = {}) const;
    // Of all launches. Throws NotKnown where the device does not count.
    [[nodiscard]] device::Counters total() const;
    // The durations of all launches, added up: without copies and gaps. Throws NotKnown as well.
    [[nodiscard]] double kernel_time_ns() const;
};

// What the launch counted. Throws NotKnown where the device does not count.
const device::Counters& counted(const device::LaunchRecord& launch);
// When it ran, by the device's clock. Throws NotKnown where the device does not time each launch.
device::Interval when(const device::LaunchRecord& launch);

template <class Output>
struct Run : Profile {
    Output output;
};

// What host code seems to have done with its inputs' values, in words, and how many kinds of change show it
// (device::OriginVerdict::changes).
struct Suspicion {
    std::string text;
    std::uint64_t changes = 0;
    bool needs_kernels = false;  // nothing is known before both runs have made them
};

struct CallResult {
    std::uint64_t result = 0;
    std::vector<std::vector<std::byte>> outputs;  // of out and inout arguments, in order
    Profile profile;
    std::optional<Suspicion> suspicion;
};

class RandomStream;
class Replay;
class Session;
class TimeLimit;
struct StoredCall;

class Program {
  public:
    enum class Role { submission, baseline };
    explicit Program(Role role);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Calls Function in the program. One output: its vector; several: a tuple; a returned value comes first.
    // Throws SubmissionFailure when the call does not come back, InfrastructureError when that is not its fault.
    template <auto Function, class... Arguments>
    auto call(const Arguments&... arguments) {
        using Signature = detail::Signature<decltype(Function)>;
        const auto result = execute(spec<Function>(arguments...), false);
        return detail::outputs_of<typename Signature::Result, Arguments...>(result.result, result.outputs);
    }

    // The same, with what the device did.
    template <auto Function, class... Arguments>
    auto profile(const Arguments&... arguments) {
        using Signature = detail::Signature<decltype(Function)>;
        auto result = execute(spec<Function>(arguments...), true);
        auto output = detail::outputs_of<typename Signature::Result, Arguments...>(result.result, result.outputs);
        return Run<decltype(output)>{std::move(result.profile), std::move(output)};
    }

    CallResult execute(const CallSpec& spec, bool profiled);
    // Ends the program after a test, and hears what the device says of its end, such as memory that was never freed.
    void finish();
    // Ends the program's processes; the next call starts afresh, with the time limit's full budget.
    void reset();
    // The end of what the program printed in this test.
    [[nodiscard]] std::string output() const;

  private:
    template <auto Function, class... Arguments>
    static CallSpec spec(const Arguments&... arguments) {
        using Signature = detail::Signature<decltype(Function)>;
        static_assert(Signature::count == sizeof...(Arguments), "the function has a different number of parameters");
        auto name = detail::name_of<Function>();
        auto parameters = parameter_names(name);
        return {std::move(name), Signature::marshal_all(arguments...), wire::type_of<typename Signature::Result>(),
                std::move(parameters)};
    }
    CallResult attempt(const CallSpec& spec);
    CallResult attempt_again(const CallSpec& spec);
    void time_on_other_device(const CallSpec& spec, RandomStream random, TimeLimit limit, Profile& profile);
    Session& session();
    Replay* replay_of(const CallSpec& spec, TimeLimit limit);
    void collect_diagnostics();
    void end_session();

    Role role_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<Replay> replay_;        // of the same calls
    std::unique_ptr<Session> timed_;        // on the device that times, if that is another one
    std::vector<StoredCall> stored_calls_;  // of this session
    struct Calls;                           // of the starter in this test, as far as its cache goes
    std::unique_ptr<Calls> calls_;          // null: no cache
    double seconds_used_ = 0;
    std::string failure_, error_;  // what ended an earlier call in this test
    bool lacking_ = false;         // and that the device lacks something
    std::string output_;
};

Program& submission();
Program& baseline();
// Of the device on which they run, as it describes itself.
const device::DeviceProperties& device_properties();

}  // namespace warpgrade::judge
