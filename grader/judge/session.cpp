#include "judge/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "device/origin_request.hpp"
#include "judge/arena.hpp"
#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/explain.hpp"
#include "judge/inputs.hpp"
#include "judge/origin.hpp"
#include "judge/replay.hpp"
#include "judge/signs.hpp"

namespace warpgrade::judge {
namespace {

constexpr auto stop_grace = std::chrono::milliseconds(500);
constexpr auto end_grace = std::chrono::seconds(1);

void add_notes(const DeviceReport& report, std::vector<std::string>& notes) {
    constexpr std::size_t most = 3;
    std::vector<std::string> errors;
    for (const std::string& error : report.errors)
        if (report.fault.empty() || error.find(report.fault) == std::string::npos) errors.push_back(error);
    for (std::size_t i = 0; i < errors.size() && i < most; ++i) notes.push_back(tame(errors[i], 600));
    if (errors.size() > most) notes.push_back(fmt::format("and {} more CUDA errors", errors.size() - most));
    if (!errors.empty()) context().add_sign(sign::cuda_error);
}

// What the device cannot do need be no mistake of the student's.
void refuse_unsupported(const DeviceReport& report) {
    if (!report.unsupported.empty())
        throw Unsupported("the device cannot run this program: " + tame(report.unsupported, 600));
}

// What a matcher needs to say more of a wrong output than its values.
void remember_outputs(const CallSpec& spec, const Arena& arena, const Arena::Snapshot& snapshot) {
    std::vector<LastOutput> outputs;
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ArgumentData& argument = spec.arguments[i];
        if (!wire::is_written_back(argument.kind)) continue;
        LastOutput output{name_of_argument(spec, i), argument.kind, {}, snapshot.outputs.at(outputs.size())};
        if (argument.kind == wire::Kind::out) {
            output.before.assign(arena.prefill(i).begin(), arena.prefill(i).end());
            output.as_before = std::ranges::find(snapshot.untouched, i) != snapshot.untouched.end();
        } else {
            output.as_before = output.after.size() >= 4 && std::ranges::equal(output.after, argument.input);
        }
        outputs.push_back(std::move(output));
    }
    context().outputs = std::move(outputs);
}

// A launch that failed is told of as such.
KernelWork work_of(const DeviceReport& report) {
    if (!report.fault.empty() || !report.call_errors.empty()) return KernelWork::unknown;
    if (report.launches.empty()) return KernelWork::not_launched;
    if (!report.analysed) return KernelWork::unknown;
    const bool wrote = std::ranges::any_of(report.launches, [](const auto& each) {
        const auto& did = counted(each);
        return did.global_store_requests + did.atomic_requests + did.surface_store_requests > 0;
    });
    return wrote ? KernelWork::written : KernelWork::nothing_written;
}

// The output that is an argument of the call, if the function has not written to it.
const LastOutput* unwritten_output(const CallSpec& spec, int argument) {
    if (argument < 0) return nullptr;
    const auto& outputs = context().outputs;
    const auto name = name_of_argument(spec, static_cast<std::size_t>(argument));
    const auto found = std::ranges::find(outputs, name, &LastOutput::name);
    return found != outputs.end() && found->as_before ? &*found : nullptr;
}

[[noreturn]] void fail_for_origin(const device::OriginVerdict& verdict, const CallSpec& spec,
                                  const Arena::Snapshot& snapshot, std::uint64_t result) {
    if (const LastOutput* output = unwritten_output(spec, verdict.argument)) {
        context().add_sign(sign::unwritten);
        throw SubmissionFailure(never_written(*output));
    }
    context().add_sign(sign::origin);
    context().review.emplace_back("its result was not computed by the device");
    throw SubmissionFailure(explain_origin(verdict, spec, snapshot, result));
}

// What streams do without an order comes out right here, since each piece of work runs to its end at once, and takes
// less time on the modelled clock than in any order that is right.
void fail_without_order(const DeviceReport& report) {
    for (const auto& found : report.diagnostics)
        if (found.rule == &device::rules::race_stream) {
            context().add_sign(sign::race);
            throw SubmissionFailure(
                "your program uses the same memory in two streams, and nothing makes one wait for the other "
                "(racecheck/stream): on a real GPU the result is unpredictable. Record an event after the first "
                "(cudaEventRecord) and let the other stream wait for it (cudaStreamWaitEvent)");
        }
}

CallResult result_of(DeviceReport report, std::uint64_t returned, std::vector<std::vector<std::byte>> outputs) {
    CallResult result;
    result.result = returned;
    result.outputs = std::move(outputs);
    for (std::size_t i = 0; i < report.launches.size(); ++i) {
        const bool part =
            !report.origin || std::ranges::find(report.origin->not_part, i + 1) == report.origin->not_part.end();
        (part ? result.profile.launches : result.profile.not_part).push_back(std::move(report.launches[i]));
    }
    const auto kept = [&](const char* list) { return report.truncated.contains(list) ? Kept::not_all : Kept::all; };
    const auto told = [&](const char* list) { return report.analysed ? kept(list) : Kept::unknown; };
    result.profile.transfers = {std::move(report.transfers), "copies and fills", told("transfers")};
    result.profile.allocations = {std::move(report.allocations), "allocations", kept("allocations")};
    result.profile.waits_ns = {std::move(report.waits_ns), "waits for the device", told("waits")};
    result.profile.time_ns = report.clock_ns;
    result.profile.device_output = std::move(report.output);
    result.profile.diagnostics = {std::move(report.diagnostics), "findings", told("")};
    return result;
}

// Host code whose decisions or uploads depend on the inputs. What the comparison of two runs has shown is only a
// suspicion yet: kernels may not have run in the other one.
std::optional<Suspicion> suspicion_of(const device::OriginVerdict& verdict, const CallSpec& spec,
                                      const Arena::Snapshot& snapshot, std::uint64_t result) {
    if (!verdict.compared) return std::nullopt;
    return Suspicion{explain_origin(verdict, spec, snapshot, result), verdict.changes, verdict.needs_kernels};
}

const char* sandbox_of(Session::Role role) {
    switch (role) {
        case Session::Role::submission:
            return "submission";
        case Session::Role::baseline:
            return "baseline";
        case Session::Role::timed_submission:
            return "timed-submission";
        case Session::Role::timed_baseline:
            return "timed-baseline";
    }
    return "";
}

}  // namespace

Session::Session(const Options& options, const std::string& executable, std::unique_ptr<DeviceServer> device, Role role)
    : options_(options),
      device_(std::move(device)),
      worker_(options, executable, device_ ? device_->client_socket() : -1, sandbox_of(role)),
      executable_(executable),
      is_submission_(role == Role::submission) {
    if (device_) device_->client_was_passed_on();
}

CallResult Session::call(const CallSpec& spec, const Arena& arena, TimeLimit limit, std::vector<std::string>& notes,
                         Replay* replay) {
    wire::Call call = arena.call();
    call.sequence = ++sequence_;
    if (!worker_.send(call, arena.descriptor())) worker_is_gone(spec);

    wire::Reply reply;
    wait_for_reply(spec, limit, reply);
    // From here on nothing that the worker still does can change what is checked.
    auto snapshot = arena.snapshot();
    if (is_submission_) remember_outputs(spec, arena, snapshot);

    std::optional<device::OriginMessage> origin;
    const bool came_back = reply.status == wire::Status::returned && reply.result_type == spec.result;
    bool is_compared = false;
    if (device_ && is_submission_ && came_back && by_host(spec.function) != ByHost::all) {
        if (replay) {
            const auto before = Clock::now();
            is_compared = make_replay(*replay, spec);
            limit.add(Clock::now() - before);
        }
        origin = ask_origin(spec, arena, snapshot, reply.result, executable_, is_compared ? replay : nullptr);
    }
    auto report =
        take(std::max(limit.last(), Clock::now() + DeviceServer::grace), origin ? &*origin : nullptr, is_compared);
    refuse_unsupported(report);
    if (is_submission_) context().kernels = work_of(report);
    if (!report.fault.empty()) {
        context().add_sign(sign::device_fault);
        throw SubmissionFailure("on the device: " + report.fault);
    }
    if (reply.status != wire::Status::returned) fail(explain(reply, spec), false);
    if (reply.result_type != spec.result)
        throw SubmissionFailure(fmt::format("{} does not return the type that the contract declares", spec.function));

    fail_without_order(report);
    add_notes(report, notes);
    if (device_ && is_submission_ && !report.analysed && by_host(spec.function) != ByHost::all)
        context().pending =
            "the values are checked; whether the device computed them, and without a race, is not known of this "
            "device. The virtual GPU tells it: --device vgpu";
    std::optional<Suspicion> suspicion;
    if (replay && origin && !is_compared)
        suspicion = Suspicion{fmt::format("{} did not return when it was called again", spec.function), 0};
    if (report.origin && report.origin->problem != device::OriginVerdict::Problem::none) {
        if (is_compared && !suspicion) suspicion = suspicion_of(*report.origin, spec, snapshot, reply.result);
        if (!suspicion) fail_for_origin(*report.origin, spec, snapshot, reply.result);
    }
    auto result = result_of(std::move(report), reply.result, std::move(snapshot.outputs));
    result.suspicion = std::move(suspicion);
    return result;
}

// It has a limit of its own, as long as the submission's.
bool Session::make_replay(Replay& replay, const CallSpec& spec) {
    worker_.pause();
    const bool came_back = replay.call(spec, true, TimeLimit(options_.seconds));
    worker_.go_on();
    return came_back;
}

CallResult result_of(const BaselineCache::Entry& entry, std::vector<std::string>& notes) {
    DeviceReport report;
    if (!entry.report.empty()) report = read_report(entry.report);
    add_notes(report, notes);
    return result_of(std::move(report), entry.result, entry.outputs);
}

void Session::finish() noexcept {
    if (!device_ || !ready_) return;
    try {
        const auto deadline = Clock::now() + end_grace;
        worker_.end(deadline);
        // The program's last messages, and the end of its connection, may still be on their way.
        while (hear_device(deadline + end_grace).connected && Clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } catch (const std::exception&) {
        // A device that fails after the last call has told all that the verdict needs.
    }
}

void Session::wait_until_ready(const CallSpec& spec, TimeLimit limit) {
    if (ready_) return;
    wire::Reply reply;
    wait_for_reply(spec, limit, reply);
    if (reply.status != wire::Status::ready) fail(explain(reply, spec), true);
    ready_ = true;
}

// Returns with the reply to the current call; the greeting has number 0.
void Session::wait_for_reply(const CallSpec& spec, TimeLimit& limit, wire::Reply& reply) {
    switch (worker_.receive(reply, limit, device_.get())) {
        case WorkerProcess::Event::gone:
            worker_is_gone(spec);
        // The device may be in the middle of the kernel that takes too long: it is not asked.
        case WorkerProcess::Event::timed_out:
            if (is_submission_) context().stopped_at = worker_.stop(Clock::now() + stop_grace);
            throw OutOfTime(ready_);
        case WorkerProcess::Event::malformed:
            fail("your program wrote to the judge's connection", true);
        case WorkerProcess::Event::reply:
            break;
    }
    if (reply.status == wire::Status::crashed) {
        context().add_sign(sign::crash);
        fail(explain(reply, spec), true);
    }
    if (reply.sequence != sequence_) fail("your program wrote to the judge's connection", true);
}

void Session::worker_is_gone(const CallSpec& spec) {
    const int code = worker_.exit_code();
    context().add_sign(sign::crash);
    fail(explain_exit(code, spec), true);
}

// The submission is to blame, unless the device server died first. What the device says may be the true reason.
void Session::fail(std::string message, bool ask_device) {
    if (ask_device && device_) {
        try {
            const auto report = hear_device(Clock::now() + DeviceServer::grace);
            refuse_unsupported(report);
            // The program ended because of it, more often than not by its own check of an error.
            if (!report.fault.empty()) {
                context().add_sign(sign::device_fault);
                message = fmt::format("on the device: {}\n  ({})", report.fault, message);
            }
            std::vector<std::string> notes;
            add_notes(report, notes);
            for (const auto& note : notes) message += "\nnote: " + note;
        } catch (const DeviceSilent&) {
            // It still runs a kernel for a program that is gone.
        }
    }
    throw SubmissionFailure(message);
}

DeviceReport Session::take(Clock::time_point deadline, const device::OriginMessage* origin, bool compare) {
    if (!device_) return {};
    try {
        return hear_device(deadline, origin, compare);
    } catch (const DeviceSilent&) {
        if (Clock::now() < deadline) throw;
        throw OutOfTime(ready_);
    }
}

DeviceReport Session::hear_device(Clock::time_point deadline, const device::OriginMessage* origin, bool compare) {
    auto report = device_->take(deadline, origin, compare);
    diagnostics_.insert(diagnostics_.end(), report.diagnostics.begin(), report.diagnostics.end());
    return report;
}

}  // namespace warpgrade::judge
