// The programs under test: submission() is the student's, baseline() the unmodified starter.
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
[[noreturn]] void fail_missing_analysis(const char* what);
}  // namespace detail

// A list of a program's work, whose length the device limits. A test that reads a truncated list fails, since the
// missing part may matter. A test that reads an unknown list, from a device without analysis, is pending.
enum class Completeness : std::uint8_t { complete, truncated, unknown };
template <class T>
class Record {
  public:
    Record() = default;
    Record(std::vector<T> items, const char* what = "",  // NOLINT: implicit
           Completeness completeness = Completeness::complete)
        : items_(std::move(items)), what_(what), completeness_(completeness) {}
    [[nodiscard]] const std::vector<T>& all() const {
        if (completeness_ == Completeness::unknown) detail::fail_missing_analysis(what_);
        if (completeness_ == Completeness::truncated) detail::fail_truncated(what_, items_.size());
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
    Completeness completeness_ = Completeness::complete;
};

// What the device did during one call.
struct Profile {
    // The launches that the outputs depend on, and the others.
    std::vector<device::LaunchRecord> launches, not_part;
    // Copies and fills, allocations, and the ends of waits for the device, in order of issue. At most 65,536, 16,384
    // and 65,536 are recorded. Times are on the clock of the launches' start_ns.
    Record<device::TransferRecord> transfers;
    Record<device::AllocationRecord> allocations;
    Record<double> waits_ns;
    double time_ns = 0;  // of the device's clock
    // Of each call on a timing device whose times vary; `time_ns` is then their median.
    std::vector<double> call_samples_ns, kernel_samples_ns;
    std::optional<double> mean_clock_ghz;   // of the device's multiprocessors, if it reads that
    std::vector<double> clock_samples_ghz;  // beside call_samples_ns; 0 where it is not known
    std::string device_output;
    Record<device::Diagnostic> diagnostics;  // see clean() in diagnostics.hpp

    // The only launch whose kernel's name contains `name`. Fails the test if there is none or more than one.
    [[nodiscard]] const device::LaunchRecord& kernel(std::string_view name = {}) const;
    // The sum over all launches. Throws MissingAnalysis if the device does not count.
    [[nodiscard]] device::Counters total() const;
    // The sum of all launches' durations, without copies and gaps; the median of all samples. Throws MissingAnalysis if
    // the device does not time launches.
    [[nodiscard]] double kernel_time_ns() const;
};

// The launch's counters. Throws MissingAnalysis if the device does not count.
const device::Counters& counted(const device::LaunchRecord& launch);
// The launch's time on the device's clock. Throws MissingAnalysis if the device does not time launches.
device::Interval when(const device::LaunchRecord& launch);

template <class Output>
struct Run : Profile {
    Output output;
};

// A suspicion that host code depends on its inputs' values; `changes` and `needs_kernels` are the OriginVerdict's.
struct Suspicion {
    std::string text;
    std::uint64_t changes = 0;
    bool needs_kernels = false;
    std::string review = {};     // what a person should look at, if anything
    bool may_be_chance = false;  // random numbers, clocks and host threads make such differences
};

struct CallResult {
    std::uint64_t result = 0;
    std::vector<std::vector<std::byte>> outputs;  // of out and inout arguments, in order
    Profile profile;
    std::optional<Suspicion> suspicion;
    bool any_order = false;  // no order of blocks, warps and lanes changes what its launches give
};

struct OtherOutput;
class OtherOrders;
class RandomStream;
class Replay;
class Session;
class TimeLimit;
struct ArenaFile;
struct StoredCall;

class Program {
  public:
    enum class Role { submission, baseline };
    explicit Program(Role role);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Calls Function in the program. Returns one output as its vector, several as a tuple with the returned value
    // first. Throws SubmissionFailure if the call does not return, or InfrastructureError if that is not the program's
    // fault.
    template <auto Function, class... Arguments>
    auto call(const Arguments&... arguments) {
        using Signature = detail::Signature<decltype(Function)>;
        const auto result = execute(spec<Function>(arguments...), false);
        return detail::outputs_of<typename Signature::Result, Arguments...>(result.result, result.outputs);
    }

    // The same, with the device's profile.
    template <auto Function, class... Arguments>
    auto profile(const Arguments&... arguments) {
        using Signature = detail::Signature<decltype(Function)>;
        auto result = execute(spec<Function>(arguments...), true);
        auto output = detail::outputs_of<typename Signature::Result, Arguments...>(result.result, result.outputs);
        return Run<decltype(output)>{std::move(result.profile), std::move(output)};
    }

    CallResult execute(const CallSpec& spec, bool profiled);
    // Makes the last profiled call once more on the timing device, and adds its times to the profile. `inputs`: 0 for
    // the call's own, or the number of other ones (with_other_inputs).
    CallResult time_again(Profile& profile, unsigned inputs);
    // What the last profiled call gave on the timing device.
    [[nodiscard]] const CallResult& first_timed() const;
    [[nodiscard]] device::DeviceProperties timing_device() const;
    // Whether these are the same results of the last profiled call.
    [[nodiscard]] bool are_same(const CallResult& one, const CallResult& other) const;
    // What the test's last call gives in place of this output in other orders of blocks and warps. Nothing is run where
    // it is known that no order changes anything.
    std::vector<OtherOutput> in_other_orders(std::span<const std::byte> output);
    // Ends the program after a test, and collects findings about its end, such as leaks.
    void finish();
    // Ends the program's processes; the next call starts new ones with the full time limit.
    void reset();
    // The last part of the program's output in this test.
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
    void time_on_other_device(const CallSpec& spec, const RandomStream& random, double seconds, CallResult& result);
    CallResult make_timed_call(unsigned inputs);
    Session& session();
    Replay* prepare_replay(const CallSpec& spec, TimeLimit limit);
    void collect_diagnostics(const std::string& function);
    void end_session();

    Role role_;
    std::unique_ptr<Session> session_;
    std::shared_ptr<const ArenaFile> arena_file_;  // of this session
    std::unique_ptr<Replay> replay_;               // of the same calls
    std::unique_ptr<OtherOrders> orders_;          // of the same calls
    std::unique_ptr<Session> timed_;               // on the timing device, if there is one
    struct TimedCall;
    std::unique_ptr<TimedCall> timed_call_;  // the last one
    std::vector<StoredCall> stored_calls_;   // of this session
    bool any_order_ = true;                  // for all of them: see CallResult
    struct CachedCalls;
    std::unique_ptr<CachedCalls> cached_calls_;  // of the starter in this test; null without a cache
    double seconds_used_ = 0;
    std::string failure_, error_;  // of an earlier call in this test
    bool unsupported_ = false;     // error_ is that the device lacks a feature
    std::string output_;
};

Program& submission();
Program& baseline();
const device::DeviceProperties& device_properties();

}  // namespace warpgrade::judge
