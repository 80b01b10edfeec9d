#include "judge/orders.hpp"

#include <algorithm>
#include <utility>

#include "device/kinds.hpp"
#include "judge/arena.hpp"
#include "judge/context.hpp"
#include "judge/device_server.hpp"
#include "judge/errors.hpp"
#include "judge/origin.hpp"
#include "judge/replay.hpp"
#include "judge/session.hpp"
#include "judge/time_limit.hpp"

namespace warpgrade::judge {
namespace {

// Small calls show the same mistakes as large ones, and cost little.
constexpr std::size_t max_bytes = std::size_t{128} << 10;     // of a call's arrays
constexpr std::uint64_t max_instructions = 16 * 1024 * 1024;  // warp instructions of a launch

// A test's calls take turns, and the first one gets what shows most.
constexpr device::Order orders[] = {device::Order::ahead, device::Order::reverse, device::Order::interleaved};

bool is_small(const StoredCall& call) {
    std::size_t bytes = 0;
    for (const ArgumentData& argument : call.spec.arguments) bytes += argument.count * wire::bytes_of(argument.type);
    return bytes <= max_bytes;
}

// The submission's own calls are checked, timed and counted.
Options options_in_other_order() {
    Options options = context().options;
    options.order = "ahead";
    options.checks = "none";
    options.trace_accesses.clear();
    options.threads = 1;
    options.instructions = std::min(options.instructions, max_instructions);
    return options;
}

std::unique_ptr<DeviceServer> start_device(const Options& options) {
    if (auto idle = context().idle_devices.take("order")) return idle;
    return std::make_unique<DeviceServer>(options, "order", DeviceServer::ReplayDevice::none);
}

}  // namespace

bool has_other_orders(const Options& options) {
    return !options.no_orders && !options.device_server.empty() && device::find_kind(options.device).analysed;
}

OtherOrders::OtherOrders()
    : options_(options_in_other_order()),
      random_(context().seed, "in another order " + context().test),
      session_(
          std::make_unique<Session>(options_, options_.worker, start_device(options_), Session::Role::other_order)) {
    session_->pause();
}

OtherOrders::~OtherOrders() = default;

std::unique_ptr<DeviceServer> OtherOrders::release_device() { return session_ ? session_->release_device() : nullptr; }

CallResult OtherOrders::make(const StoredCall& call) {
    const TimeLimit limit(options_.seconds);
    session_->wait_until_ready(call.spec, limit);
    session_->device()->set_order(orders[made_++ % std::size(orders)], limit.last());
    const Arena arena(call.spec, random_, Arena::Prefill::random, &arena_file_);
    std::vector<std::string> notes;
    return session_->call(call.spec, arena, limit, notes);
}

void OtherOrders::make(std::span<const StoredCall> calls) {
    if (!session_ || made_ == calls.size()) return;
    const auto signs = context().signs;
    session_->resume();
    try {
        while (made_ < calls.size()) result_ = std::make_unique<CallResult>(make(calls[made_]));
        session_->pause();
    } catch (const SubmissionFailure& failure) {
        end(failure);
    }
    context().signs = signs;
}

// Whether a call that takes too long would have given the right result is not known.
void OtherOrders::end(const SubmissionFailure& failure) {
    const auto found = session_->take_diagnostics();
    const bool is_late = dynamic_cast<const OutOfTime*>(&failure) != nullptr ||
                         std::ranges::find(found, &device::rules::runaway, &device::Diagnostic::rule) != found.end();
    if (!is_late) failure_ = failure.what();
    result_.reset();
    session_.reset();
}

std::vector<OtherOutput> OtherOrders::find(std::span<const std::byte> output, std::span<const StoredCall> calls) {
    const auto& current = context();
    make(calls);
    const device::Order order = orders[(made_ - 1) % std::size(orders)];
    std::vector<OtherOutput> others;
    if (!failure_.empty()) others.push_back({order, {}, std::exchange(failure_, {})});
    if (!result_) return others;
    const auto add = [&](std::span<const std::byte> before, std::span<const std::byte> bytes) {
        if (std::ranges::equal(before, output) && !std::ranges::equal(bytes, output))
            others.push_back({order, {bytes.begin(), bytes.end()}, {}});
    };
    for (std::size_t i = 0; i < current.outputs.size(); ++i) add(current.outputs[i].after, result_->outputs.at(i));
    add(current.returned, std::as_bytes(std::span(&result_->result, 1)).first(current.returned.size()));
    return others;
}

OrdinaryOrder::OrdinaryOrder() : before_(std::exchange(context().in_orders, false)) {}
OrdinaryOrder::~OrdinaryOrder() { context().in_orders = before_; }

std::vector<OtherOutput> detail::find_other_outputs(std::span<const std::byte> output) {
    const auto& current = context();
    if (!current.in_orders || !current.submission || output.empty()) return {};
    const auto is_output = [&](const LastOutput& one) { return std::ranges::equal(one.after, output); };
    if (!std::ranges::equal(current.returned, output) && std::ranges::none_of(current.outputs, is_output)) return {};
    return current.submission->in_other_orders(output);
}

bool may_be_repeated(std::span<const StoredCall> calls) {
    return !calls.empty() && context().kernels == KernelWork::written &&
           host_work(calls.back().spec.function) != HostWork::all && std::ranges::all_of(calls, is_small);
}

}  // namespace warpgrade::judge
