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

// A missing feature of the device need not be the student's mistake.
void refuse_unsupported(const DeviceReport& report) {
    if (!report.unsupported.empty())
        throw Unsupported("the device cannot run this program: " + tame(report.unsupported, 600));
}

// Keeps the outputs for the messages of matchers.
void remember_outputs(const CallSpec& spec, const Arena& arena, const Arena::Snapshot& snapshot,
                      std::uint64_t returned) {
    std::vector<LastOutput> outputs;
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ArgumentData& argument = spec.arguments[i];
        if (!wire::is_written_back(argument.kind)) continue;
        LastOutput output{name_of_argument(spec, i), argument.kind, {}, snapshot.outputs.at(outputs.size())};
        if (argument.kind == wire::Kind::out) {
            output.before.assign(arena.prefill(i).begin(), arena.prefill(i).end());
            output.unchanged = std::ranges::find(snapshot.untouched, i) != snapshot.untouched.end();
        } else {
            output.unchanged = output.after.size() >= 4 && std::ranges::equal(output.after, argument.input);
        }
        outputs.push_back(std::move(output));
    }
    context().outputs = std::move(outputs);
    const auto bytes = std::as_bytes(std::span(&returned, 1)).first(wire::bytes_of(spec.result));
    context().returned.assign(bytes.begin(), bytes.end());
}

// Unknown after a failed launch, which has its own message.
KernelWork kernel_work(const DeviceReport& report) {
    if (!report.fault.empty() || !report.call_errors.empty()) return KernelWork::unknown;
    if (report.launches.empty()) return KernelWork::not_launched;
    if (!report.analysed) return KernelWork::unknown;
    const bool wrote = std::ranges::any_of(report.launches, [](const auto& each) {
        const auto& counters = counted(each);
        return counters.global_store_requests + counters.atomic_requests + counters.surface_store_requests > 0;
    });
    return wrote ? KernelWork::written : KernelWork::nothing_written;
}

// The output for this argument if the function has not written to it, else null.
const LastOutput* unwritten_output(const CallSpec& spec, int argument) {
    if (argument < 0) return nullptr;
    const auto& outputs = context().outputs;
    const auto name = name_of_argument(spec, static_cast<std::size_t>(argument));
    const auto found = std::ranges::find(outputs, name, &LastOutput::name);
    return found != outputs.end() && found->unchanged ? &*found : nullptr;
}

[[noreturn]] void fail_for_origin(const device::OriginVerdict& verdict, const CallSpec& spec,
                                  const Arena::Snapshot& snapshot, std::uint64_t result) {
    if (const LastOutput* output = unwritten_output(spec, verdict.argument)) {
        context().add_sign(sign::unwritten);
        throw SubmissionFailure(explain_unwritten(*output));
    }
    context().add_sign(sign::origin);
    if (auto review = review_origin(verdict); !review.empty()) context().review.push_back(std::move(review));
    throw SubmissionFailure(explain_origin(verdict, spec, snapshot, result));
}

// The virtual GPU runs each operation to its end at once, so that a race between streams gives the right result, in
// less modelled time than any correct order.
void fail_for_stream_race(const DeviceReport& report) {
    for (const auto& found : report.diagnostics)
        if (found.rule == &device::rules::race_stream) {
            context().add_sign(sign::race);
            throw SubmissionFailure(
                "your program uses the same memory in two streams, and nothing makes one wait for the other "
                "(racecheck/stream): on a real GPU the result is unpredictable. Record an event after the first "
                "(cudaEventRecord) and let the other stream wait for it (cudaStreamWaitEvent)");
        }
}

CallResult make_result(DeviceReport report, std::uint64_t returned, std::vector<std::vector<std::byte>> outputs) {
    CallResult result;
    result.result = returned;
    result.outputs = std::move(outputs);
    result.any_order = std::ranges::all_of(report.launches, &device::LaunchRecord::any_order);
    for (std::size_t i = 0; i < report.launches.size(); ++i) {
        const bool part =
            !report.origin || std::ranges::find(report.origin->not_part, i + 1) == report.origin->not_part.end();
        (part ? result.profile.launches : result.profile.not_part).push_back(std::move(report.launches[i]));
    }
    const auto listed = [&](const char* list) {
        return report.truncated.contains(list) ? Completeness::truncated : Completeness::complete;
    };
    const auto analysed = [&](const char* list) { return report.analysed ? listed(list) : Completeness::unknown; };
    result.profile.transfers = {std::move(report.transfers), "copies and fills", analysed("transfers")};
    result.profile.allocations = {std::move(report.allocations), "allocations", listed("allocations")};
    result.profile.waits_ns = {std::move(report.waits_ns), "waits for the device", analysed("waits")};
    result.profile.time_ns = report.clock_ns;
    result.profile.mean_clock_ghz = report.mean_clock_ghz;
    result.profile.device_output = std::move(report.output);
    result.profile.diagnostics = {std::move(report.diagnostics), "findings", analysed("")};
    return result;
}

}  // namespace

const char* Session::sandbox_name(Role role) {
    constexpr const char* names[] = {"submission", "baseline", "timed-submission", "timed-baseline", "order-worker"};
    return names[static_cast<std::size_t>(role)];
}

Session::Session(const Options& options, const std::string& executable, std::unique_ptr<DeviceServer> device, Role role)
    : options_(options),
      device_(std::move(device)),
      worker_(options, executable, device_ ? device_->client_socket() : -1, sandbox_name(role)),
      calls_(role == Role::submission ? options.record_calls : ""),
      executable_(executable),
      is_submission_(role == Role::submission) {
    if (device_) device_->close_client_socket();
}

CallResult Session::call(const CallSpec& spec, const Arena& arena, TimeLimit limit, std::vector<std::string>& notes,
                         Replay* replay) {
    wire::Call call = arena.call();
    call.sequence = ++sequence_;
    CallFile::Entry recorded(calls_, context().test, arena);
    if (!worker_.send(call, arena.descriptor())) fail_worker_ended(spec);

    wire::Reply reply;
    wait_for_reply(spec, limit, reply);
    // Only this copy is checked, whatever the worker writes from here on.
    auto snapshot = arena.snapshot();
    if (is_submission_) remember_outputs(spec, arena, snapshot, reply.result);

    std::optional<device::OriginMessage> origin;
    const bool returned = reply.status == wire::Status::returned && reply.result_type == spec.result;
    if (returned) recorded.returned(reply.result);
    bool is_compared = false;
    const bool is_for_device = device_ && is_submission_ && host_work(spec.function) != HostWork::all;
    if (is_for_device && returned) {
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
    if (is_submission_) {
        context().kernels = kernel_work(report);
        context().launched.clear();
        for (const device::LaunchRecord& launch : report.launches) context().launched.push_back(launch.config);
    }
    if (!report.fault.empty()) {
        context().add_sign(sign::device_fault);
        throw SubmissionFailure("on the device: " + report.fault);
    }
    if (reply.status != wire::Status::returned) fail(explain(reply, spec), false);
    if (reply.result_type != spec.result)
        throw SubmissionFailure(fmt::format("{} does not return the type that the contract declares", spec.function));

    fail_for_stream_race(report);
    add_notes(report, notes);
    if (is_for_device && !report.analysed)
        context().pending =
            "the values are checked; whether the device computed them, and without a race, is not known of this "
            "device. The virtual GPU tells it: --device vgpu";
    std::optional<Suspicion> suspicion;
    if (replay && origin && !is_compared)
        suspicion = Suspicion{
            fmt::format("{} returned, but did not when it was called again with other inputs of the same sizes. Does "
                        "host code wait for what may never come? Sizes may decide how often it launches and copies; "
                        "what is in the arrays is for kernels to look at",
                        spec.function),
            0};
    if (report.origin && report.origin->problem != device::OriginVerdict::Problem::none) {
        const device::OriginVerdict& verdict = *report.origin;
        // A difference to the replay is only a suspicion, since the replay may have skipped its kernels.
        if (is_compared && !suspicion && verdict.compared)
            suspicion =
                Suspicion{explain_origin(verdict, spec, snapshot, reply.result), verdict.changes, verdict.needs_kernels,
                          review_origin(verdict), verdict.problem == device::OriginVerdict::Problem::value_dependent};
        if (!suspicion) fail_for_origin(verdict, spec, snapshot, reply.result);
    }
    auto result = make_result(std::move(report), reply.result, std::move(snapshot.outputs));
    result.suspicion = std::move(suspicion);
    return result;
}

// The replay has its own time limit.
bool Session::make_replay(Replay& replay, const CallSpec& spec) {
    worker_.pause();
    const bool returned = replay.call(spec, true, TimeLimit(options_.seconds));
    worker_.resume();
    return returned;
}

CallResult make_result(const BaselineCache::Entry& entry, std::vector<std::string>& notes) {
    DeviceReport report;
    if (!entry.report.empty()) report = read_report(entry.report);
    add_notes(report, notes);
    return make_result(std::move(report), entry.result, entry.outputs);
}

bool Session::finish() noexcept {
    if (!device_ || !ready_) return false;
    try {
        const auto deadline = Clock::now() + end_grace;
        worker_.end(deadline);
        // The program's last messages, and the end of its connection, may still arrive.
        while (take_report(deadline + end_grace).connected) {
            if (Clock::now() >= deadline) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    } catch (const std::exception&) {
        return false;  // the verdict does not need a device that fails after the last call
    }
}

void Session::wait_until_ready(const CallSpec& spec, TimeLimit limit) {
    if (ready_) return;
    wire::Reply reply;
    wait_for_reply(spec, limit, reply);
    if (reply.status != wire::Status::ready) fail(explain(reply, spec), true);
    ready_ = true;
}

// The program's first message has number 0.
void Session::wait_for_reply(const CallSpec& spec, TimeLimit& limit, wire::Reply& reply) {
    switch (worker_.receive(reply, limit, device_.get())) {
        case WorkerProcess::Event::gone:
            fail_worker_ended(spec);
        // The device may still run the kernel that takes too long, so the judge does not ask it.
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

void Session::fail_worker_ended(const CallSpec& spec) {
    const int code = worker_.exit_code();
    context().add_sign(sign::crash);
    fail(explain_exit(code, spec), true);
}

// The submission is to blame, unless the device server ended first. A fault of the device may be the true reason.
void Session::fail(std::string message, bool ask_device) {
    if (ask_device && device_) {
        try {
            const auto report = take_report(Clock::now() + DeviceServer::grace);
            refuse_unsupported(report);
            // Most likely the program checked for errors and ended because of this one.
            if (!report.fault.empty()) {
                context().add_sign(sign::device_fault);
                message = fmt::format("on the device: {}\n  ({})", report.fault, message);
            }
            std::vector<std::string> notes;
            add_notes(report, notes);
            for (const auto& note : notes) message += "\nnote: " + note;
        } catch (const DeviceSilent&) {
            // It still runs a kernel of the program that ended.
        }
    }
    throw SubmissionFailure(message);
}

DeviceReport Session::take(Clock::time_point deadline, const device::OriginMessage* origin, bool compare) {
    if (!device_) return {};
    try {
        return take_report(deadline, origin, compare);
    } catch (const DeviceSilent&) {
        if (Clock::now() < deadline) throw;
        throw OutOfTime(ready_);
    }
}

DeviceReport Session::take_report(Clock::time_point deadline, const device::OriginMessage* origin, bool compare) {
    auto report = device_->take(deadline, origin, compare);
    diagnostics_.insert(diagnostics_.end(), report.diagnostics.begin(), report.diagnostics.end());
    return report;
}

}  // namespace warpgrade::judge
