#include "judge/submission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/kinds.hpp"
#include "device/records.hpp"
#include "judge/arena.hpp"
#include "judge/baseline_cache.hpp"
#include "judge/context.hpp"
#include "judge/device_server.hpp"
#include "judge/diagnostics.hpp"
#include "judge/errors.hpp"
#include "judge/inputs.hpp"
#include "judge/orders.hpp"
#include "judge/random.hpp"
#include "judge/replay.hpp"
#include "judge/session.hpp"
#include "judge/signs.hpp"
#include "judge/timed_call.hpp"

namespace warpgrade::judge {
namespace {

const std::string& executable_of(Program::Role role) {
    const auto& options = context().options;
    return role == Program::Role::submission ? options.worker : options.baseline;
}

std::unique_ptr<DeviceServer> start_device(Program::Role role) {
    auto& current = context();
    if (current.options.device_server.empty()) return nullptr;
    if (role == Program::Role::baseline) {
        Options untraced = current.options;
        untraced.trace_accesses.clear();
        return std::make_unique<DeviceServer>(untraced, "baseline", DeviceServer::ReplayDevice::none);
    }
    if (auto idle = current.idle_devices.take("submission")) return idle;
    return start_submission_device(current.options);
}

std::string list_names(const std::vector<device::LaunchRecord>& launches) {
    std::string text;
    for (std::size_t i = 0; i < launches.size() && i < 4; ++i) text += (i ? ", " : "") + launches[i].demangled;
    return launches.size() > 4 ? text + ", …" : text;
}

}  // namespace

const device::LaunchRecord& Profile::kernel(std::string_view name) const {
    const device::LaunchRecord* found = nullptr;
    std::size_t count = 0;
    for (const auto& launch : launches) {
        if (launch.demangled.find(name) == std::string::npos) continue;
        found = &launch;
        ++count;
    }
    if (count == 1) return *found;
    std::string text;
    if (launches.empty()) {
        text = not_part.empty() ? "no kernel was launched" : "no kernel was launched that the result comes from";
    } else {
        const auto what = name.empty() ? std::string("kernel launches") : fmt::format("launches of {}", name);
        text = fmt::format("{}: {}, expected 1 (launched: {})", what, count, list_names(launches));
    }
    if (!not_part.empty()) text += fmt::format("; not part of the result: {}", list_names(not_part));
    throw SubmissionFailure(text);
}

device::Counters Profile::total() const {
    device::Counters sum;
    for (const auto& launch : launches) sum += counted(launch);
    return sum;
}

double Profile::kernel_time_ns() const {
    if (!kernel_samples_ns.empty()) return median(kernel_samples_ns);
    double sum = 0;
    for (const auto& launch : launches) {
        if (!launch.duration_ns) detail::fail_missing_analysis("how long each kernel takes");
        sum += *launch.duration_ns;
    }
    return sum;
}

device::Interval when(const device::LaunchRecord& launch) {
    if (!launch.start_ns || !launch.duration_ns) detail::fail_missing_analysis("how long each kernel takes");
    return {*launch.start_ns, *launch.start_ns + *launch.duration_ns};
}

const device::Counters& counted(const device::LaunchRecord& launch) {
    if (!launch.counters) detail::fail_missing_analysis("what kernels count");
    return *launch.counters;
}

void detail::fail_missing_analysis(const char* what) {
    throw MissingAnalysis(fmt::format("{} is not known of this device ({}). The virtual GPU tells it: --device vgpu",
                                      what, context().options.device));
}

void detail::fail_truncated(const char* what, std::size_t kept) {
    throw SubmissionFailure(fmt::format(
        "one call made more than {} {}: further ones are not recorded, so the test cannot check all of them", kept,
        what));
}

// Calls with cached results. They are made only before a call without one, since a program may remember earlier calls.
struct Program::CachedCalls {
    CallChain chain;
    std::vector<std::pair<CallSpec, std::unique_ptr<Arena>>> skipped;
};

Program::Program(Role role) : role_(role) {}
Program::~Program() = default;

CallResult Program::execute(const CallSpec& spec, bool profiled) {
    auto& current = context();
    // After a failed call, the test's other calls would fail too, after the same wait.
    if (unsupported_) throw Unsupported(error_);
    if (!error_.empty()) throw InfrastructureError(error_);
    if (!failure_.empty()) throw SubmissionFailure(failure_);
    current.last_call = describe(spec);
    current.notes.clear();
    if (role_ == Role::submission) {
        current.outputs.clear();
        current.called.insert(spec.function);
    }
    try {
        CallResult result;
        try {
            result = attempt(spec);
        } catch (const Unsupported&) {
            throw;  // a second attempt would not help
        } catch (const InfrastructureError&) {
            // Tries once more with new processes.
            end_session();
            current.notes.clear();
            result = attempt_again(spec);
        }
        collect_diagnostics(spec.function);
        if (profiled && role_ == Role::submission) {
            current.launches = result.profile.launches;
            for (auto launch : result.profile.not_part) {
                launch.part_of_result = false;
                current.launches.push_back(std::move(launch));
            }
        }
        return result;
    } catch (const SubmissionFailure& failure) {
        collect_diagnostics(spec.function);
        end_session();
        if (role_ == Role::submission) {
            failure_ = failure.what();
            throw;
        }
        error_ = std::string("the starter failed: ") + failure.what();
        throw InfrastructureError(error_);
    } catch (const InfrastructureError& error) {
        end_session();
        error_ = error.what();
        unsupported_ = role_ == Role::submission && dynamic_cast<const Unsupported*>(&error) != nullptr;
        if (unsupported_) throw;
        throw InfrastructureError(error_);
    } catch (...) {
        end_session();
        throw;
    }
}

namespace {

// The time limit of a call. After a function's first time-out, its next call gets a twentieth of the limit, and then it
// is not called any more, so that an endless loop does not cost a full limit in each test. If only public tests run,
// which give no grade, other functions get less time too, since they often share the code that hangs.
double time_limit(const std::string& function) {
    auto& current = context();
    const double less = std::max(1.0, current.options.seconds / 20);
    const auto found = current.hangs.find(function);
    if (found == current.hangs.end())
        return current.hangs.empty() || current.options.only != "public" ? current.options.seconds : less;
    const Hang& hang = found->second;
    if (hang.count > 1 || current.options.only == "public")
        throw SubmissionFailure(fmt::format("not called any more: {} did not finish in the test “{}”",
                                            function.empty() ? "your program" : function, hang.test));
    return less;
}

[[noreturn]] void fail_out_of_time(const std::string& function, const OutOfTime& late, double seconds) {
    auto& current = context();
    current.add_sign(sign::time_out);
    const std::string first = current.hangs.empty() ? "" : current.hangs.begin()->second.test;
    Hang& hang = current.hangs[late.started() ? function : ""];
    if (hang.count++ == 0) hang.test = current.test;
    if (!late.started())
        throw SubmissionFailure(fmt::format(
            "your program did not start within {:g} s: a constructor of a global variable does not end", seconds));
    std::string text = fmt::format("{} did not finish within {:g} s", function, seconds);
    if (seconds < current.options.seconds)
        text += fmt::format(" (less time than usual, after a test that did not finish: “{}”)",
                            hang.count > 1 ? hang.test : first);
    throw SubmissionFailure(text);
}

}  // namespace

// If the device server is killed twice, the program is the cause, not the machine.
CallResult Program::attempt_again(const CallSpec& spec) {
    try {
        return attempt(spec);
    } catch (const DeviceKilled& killed) {
        throw SubmissionFailure(fmt::format(
            "your program crashed the device twice: {}. If it does nothing out of the ordinary, ask for a review",
            killed.what()));
    }
}

struct Program::TimedCall {
    StoredCall call;
    RandomStream random;
    double seconds;
    CallResult first = {};
};

// Takes the times from the timing device and everything else from the analysing one, so both must have done the same
// work. Every call of the test is made on both devices, since a program may remember earlier calls.
void Program::time_on_other_device(const CallSpec& spec, const RandomStream& random, double seconds,
                                   CallResult& result) {
    auto& current = context();
    const auto role = role_ == Role::submission ? Session::Role::timed_submission : Session::Role::timed_baseline;
    if (!timed_)
        timed_ = std::make_unique<Session>(current.timing, executable_of(role_),
                                           std::make_unique<DeviceServer>(current.timing, Session::sandbox_name(role),
                                                                          DeviceServer::ReplayDevice::none),
                                           role);
    timed_call_.reset(new TimedCall{StoredCall(spec), random, seconds});
    timed_call_->first = make_timed_call(0);
    check_same_work(spec, result, timed_call_->first,
                    timing_device().multi_processor_count == current.device.multi_processor_count,
                    role_ == Role::submission);
    take_times(result.profile, timed_call_->first.profile, has_varying_times());
}

CallResult Program::make_timed_call(unsigned inputs) {
    const CallSpec& usual = timed_call_->call.spec;
    auto random = timed_call_->random;
    std::optional<StoredCall> other;
    if (inputs != 0) {
        other.emplace(with_other_inputs(usual, inputs));
        random = RandomStream(context().seed, fmt::format("{} timed with inputs {}", context().test, inputs));
    }
    const CallSpec& spec = other ? other->spec : usual;
    const Arena arena(spec, random);
    const LockedFile alone(context().options.timing_lock);
    const TimeLimit limit(timed_call_->seconds, seconds_used_);
    timed_->wait_until_ready(spec, limit);
    std::vector<std::string> notes;
    return timed_->call(spec, arena, limit, notes);
}

CallResult Program::time_again(Profile& profile, unsigned inputs) {
    const CallSpec& spec = timed_call_->call.spec;
    CallResult again = make_timed_call(inputs);
    check_same_work(spec, timed_call_->first, again, inputs == 0 || !may_host_decide(spec.function),
                    inputs == 0 && role_ == Role::submission);
    take_times(profile, again.profile, true);
    return again;
}

const CallResult& Program::first_timed() const { return timed_call_->first; }

device::DeviceProperties Program::timing_device() const {
    return device::parse_properties(timed_->device()->properties_json());
}

bool Program::are_same(const CallResult& one, const CallResult& other) const {
    return has_same_results(timed_call_->call.spec, one, other);
}

CallResult Program::attempt(const CallSpec& spec) {
    auto& current = context();
    const auto& executable = executable_of(role_);
    if (executable.empty()) throw InfrastructureError("the judge was started without a program to call");
    double limit = current.options.seconds;
    if (role_ == Role::submission) limit = std::min(time_limit(""), time_limit(spec.function));
    const auto begin = Clock::now();
    const TimeLimit time(limit, seconds_used_);
    auto* const cache = role_ == Role::baseline ? current.baseline_cache.get() : nullptr;
    if (cache && !cached_calls_) cached_calls_ = std::make_unique<CachedCalls>();
    CallResult result;
    Clock::duration excluded{};  // time of replays and of the timing device
    try {
        auto random = stream();
        const auto before_call = random;
        std::unique_ptr<Arena> arena;
        if (cache) {
            arena = std::make_unique<Arena>(spec, random);
            cached_calls_->chain.add(*arena);
            const auto* const entry = session_ ? nullptr : cache->find(cached_calls_->chain.key());
            if (entry) {
                stream() = random;
                cached_calls_->skipped.emplace_back(spec, std::move(arena));
                return make_result(*entry, current.notes);
            }
            std::vector<std::string> notes;
            for (const auto& [earlier, earlier_arena] : std::exchange(cached_calls_->skipped, {})) {
                session().wait_until_ready(earlier, time);
                session().call(earlier, *earlier_arena, time, notes);
            }
        }
        session().wait_until_ready(spec, time);
        if (!arena) arena = std::make_unique<Arena>(spec, random, Arena::Prefill::random, &arena_file_);
        stream() = random;
        const auto used_before = replay_ ? replay_->used() : Clock::duration{};
        auto* const replay = prepare_replay(spec, time);
        result = session().call(spec, *arena, time, current.notes, replay);
        if (replay) excluded = replay->used() - used_before;
        if (result.suspicion && replay) {
            const auto before = Clock::now();
            check_suspicion(executable, stored_calls_, *result.suspicion);
            excluded += Clock::now() - before;
        }
        if (!current.options.timing_device.empty() && current.is_timed) {
            const auto before = Clock::now();
            time_on_other_device(spec, before_call, limit, result);
            excluded += Clock::now() - before;
        }
        if (cache) cache->add(cached_calls_->chain.key(), {result.result, result.outputs, session().last_report()});
    } catch (const OutOfTime& late) {
        if (role_ != Role::submission) throw SubmissionFailure(fmt::format("it takes more than {:g} seconds", limit));
        fail_out_of_time(spec.function, late, limit);
    }
    seconds_used_ += std::chrono::duration<double>(Clock::now() - begin - excluded).count();
    any_order_ &= result.any_order;
    return result;
}

Session& Program::session() {
    auto& current = context();
    const auto& executable = executable_of(role_);
    if (!session_)
        session_ =
            std::make_unique<Session>(current.options, executable, start_device(role_),
                                      role_ == Role::submission ? Session::Role::submission : Session::Role::baseline);
    return *session_;
}

// The replay also makes the test's earlier calls, since a program may remember them.
Replay* Program::prepare_replay(const CallSpec& spec, TimeLimit limit) {
    auto& current = context();
    if (role_ != Role::submission || !(can_replay(current.options) || current.in_orders)) return nullptr;
    stored_calls_.emplace_back(spec);
    if (!can_replay(current.options) || !is_compared(spec)) return nullptr;
    if (!replay_)
        replay_ = std::make_unique<Replay>(current.options, current.options.worker, *session().device(),
                                           Replay::Inputs::other);
    while (replay_->calls() + 1 < stored_calls_.size())
        replay_->call(stored_calls_[replay_->calls()].spec, false, limit);
    return replay_.get();
}

std::vector<OtherOutput> Program::in_other_orders(std::span<const std::byte> output) {
    if (!session_ || any_order_ || !may_be_repeated(stored_calls_)) return {};
    struct Pause {
        explicit Pause(Session& of) : session(of) { session.pause(); }
        ~Pause() { session.resume(); }
        Session& session;
    } const pause(*session_);
    if (!orders_) orders_ = std::make_unique<OtherOrders>();
    try {
        return orders_->find(output, stored_calls_);
    } catch (const InfrastructureError&) {  // tries once more with new processes
        orders_ = std::make_unique<OtherOrders>();
        return orders_->find(output, stored_calls_);
    }
}

// Only for the submission: the starter's mistakes are not the student's.
void Program::collect_diagnostics(const std::string& function) {
    if (session_ && role_ == Role::submission) collect_findings(session_->take_diagnostics(), function);
}

void Program::finish() {
    if (session_ && role_ == Role::submission && failure_.empty() && error_.empty()) {
        const bool is_idle = session_->finish();
        collect_diagnostics({});
        auto& idle_devices = context().idle_devices;
        if (is_idle) idle_devices.keep("submission", session_->release_device());
        if (is_idle && orders_) idle_devices.keep("order", orders_->release_device());
    }
    end_session();
}

void Program::end_session() {
    if (session_) output_ = session_->output();
    replay_.reset();
    orders_.reset();
    timed_.reset();
    timed_call_.reset();
    session_.reset();
    arena_file_.reset();
    stored_calls_.clear();
    any_order_ = true;
    cached_calls_.reset();
}

void Program::reset() {
    finish();
    seconds_used_ = 0;
    failure_.clear();
    error_.clear();
    unsupported_ = false;
    output_.clear();
}

std::string Program::output() const { return session_ ? session_->output() : output_; }

}  // namespace warpgrade::judge
