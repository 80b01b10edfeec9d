#include "judge/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/kinds.hpp"
#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/origin.hpp"
#include "judge/session.hpp"
#include "judge/signs.hpp"

namespace warpgrade::judge {
namespace {

// Makes other values of the same kind, with other sums, extremes and order: rotates the array, then takes groups of
// elements from near their places, so that some come twice and some not at all.
template <class T>
std::vector<std::byte> resample(std::span<const std::byte> bytes, RandomStream& random) {
    constexpr std::size_t most = 4, reach = 8;
    std::vector<std::byte> result(bytes.begin(), bytes.end());
    const std::size_t count = bytes.size() / sizeof(T);
    const std::size_t group = count < 16 * most ? 1 : most;
    // A cheap generator is enough: the submission cannot make use of its numbers.
    std::uint64_t jitter = random.next() | 1;
    const std::size_t turn = random.below(count);
    const T factor = std::is_floating_point_v<T> ? static_cast<T>((1 + random.unit24()) / 2) : T{1};
    for (std::size_t i = 0; i < count; i += group) {
        if (i % (16 * group) == 0) jitter ^= jitter << 13, jitter ^= jitter >> 7, jitter ^= jitter << 17;
        std::size_t from = i + turn + (jitter >> i / group % 16 * 4) % reach;
        while (from >= count) from -= count;  // for an array takes less time than a division
        const std::size_t size = std::min(group, count - i);
        T values[most] = {};
        // A copy of constant size is no function call.
        const bool is_whole = size == most && from + most <= count;
        if (is_whole)
            std::memcpy(values, bytes.data() + from * sizeof(T), sizeof values);
        else
            for (std::size_t k = 0; k < size; ++k)
                std::memcpy(&values[k], bytes.data() + (from + k) % count * sizeof(T), sizeof(T));
        for (T& value : values) value = static_cast<T>(value * factor);
        if (is_whole)
            std::memcpy(result.data() + i * sizeof(T), values, sizeof values);
        else
            std::memcpy(result.data() + i * sizeof(T), values, size * sizeof(T));
    }
    return result;
}

std::uint64_t hash(std::span<const std::byte> bytes) {
    std::uint64_t value = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof value) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        value = (value ^ word) * 0x9E3779B97F4A7C15ULL, value ^= value >> 29;
    }
    return value;
}

// Equal arrays stay equal, also in different calls, since host code may reuse one that it has already sent.
std::vector<std::byte> vary_values(const ArgumentData& argument, const std::string& purpose = "") {
    RandomStream random(context().seed, fmt::format("instead of {:x}{}", hash(argument.input), purpose));
    switch (argument.type) {
        case wire::Type::f32:
            return resample<float>(argument.input, random);
        case wire::Type::f64:
            return resample<double>(argument.input, random);
        default:
            break;
    }
    switch (wire::bytes_of(argument.type)) {
        case 1:
            return resample<std::uint8_t>(argument.input, random);
        case 2:
            return resample<std::uint16_t>(argument.input, random);
        case 4:
            return resample<std::uint32_t>(argument.input, random);
        default:
            return resample<std::uint64_t>(argument.input, random);
    }
}

}  // namespace

Replay::Replay(const Options& options, const std::string& executable, DeviceServer& device, Inputs inputs)
    : inputs_(inputs),
      device_(device),
      worker_(options, executable, device.replay_socket(), "replay"),
      random_(context().seed, "replay of " + context().test) {
    device.close_replay_socket();
    worker_.pause();
}

void Replay::vary(const CallSpec& spec) {
    spec_ = spec;
    data_.assign(spec.arguments.size(), {});
    if (inputs_ == Inputs::same) return;
    for (std::size_t i = 0; i < data_.size(); ++i) {
        data_[i] = vary_values(spec.arguments[i]);
        spec_.arguments[i].input = data_[i];
    }
}

bool Replay::call(const CallSpec& spec, bool compare, TimeLimit limit) {
    ++calls_;
    if (ended_) return false;
    if (!device_.replay_runs_kernels()) limit = worker_.limit_more(std::max(1.0, context().options.seconds / 10));
    const auto begin = Clock::now();
    vary(spec);
    arena_ = std::make_unique<Arena>(spec_, random_, Arena::Prefill::one_byte, &arena_file_);
    worker_.resume();
    const bool returned = make_call(compare, limit);
    worker_.pause();
    used_ += Clock::now() - begin;
    ended_ = !returned;
    return returned;
}

bool Replay::make_call(bool compare, TimeLimit& limit) {
    wire::Reply reply;
    const auto has_reply = [&] { return worker_.receive(reply, limit) == WorkerProcess::Event::reply; };
    if (!ready_ && !has_reply()) return false;
    ready_ = true;
    if (!worker_.send(arena_->call(), arena_->descriptor()) || !has_reply()) return false;
    snapshot_ = arena_->snapshot();
    result_ = reply.result;
    device_.end_replay(std::max(limit.last(), Clock::now() + DeviceServer::grace), !compare);
    return true;
}

std::span<const std::byte> Replay::before(std::size_t argument) const {
    const ArgumentData& data = spec_.arguments.at(argument);
    return data.kind == wire::Kind::out ? arena_->prefill(argument) : data.input;
}

StoredCall with_other_inputs(const CallSpec& call, unsigned number) {
    StoredCall other(call);
    const auto is_array = [](const ArgumentData& argument) { return !argument.input.empty(); };
    const bool is_only = std::ranges::count_if(call.arguments, is_array) == 1;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const ArgumentData& argument = call.arguments[i];
        const bool is_float = argument.type == wire::Type::f32 || argument.type == wire::Type::f64;
        if (!is_array(argument) || !(is_float || is_only)) continue;
        other.data[i] = vary_values(argument, fmt::format(", {}", number));
        other.spec.arguments[i].input = other.data[i];
    }
    return other;
}

StoredCall::StoredCall(const CallSpec& call)
    : spec(call), host_work(judge::host_work(call.function)), data(call.arguments.size()) {
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i].assign(call.arguments[i].input.begin(), call.arguments[i].input.end());
        spec.arguments[i].input = data[i];
    }
}

bool can_replay(const Options& options) {
    return !options.no_replay && !options.device_server.empty() && device::find_kind(options.device).analysed;
}

std::unique_ptr<DeviceServer> start_submission_device(const Options& options) {
    using ReplayDevice = DeviceServer::ReplayDevice;
    return std::make_unique<DeviceServer>(options, "submission",
                                          can_replay(options) ? ReplayDevice::skips_kernels : ReplayDevice::none);
}

bool is_compared(const CallSpec& call) {
    return host_work(call.function) != HostWork::all && !may_host_decide(call.function) &&
           std::ranges::any_of(call.arguments, [](const ArgumentData& argument) { return !argument.input.empty(); });
}

namespace {

// Repeats the calls in two new processes, the second one with these inputs, and returns the suspicion of the last call.
std::optional<Suspicion> compare_runs(const std::string& executable, std::span<const StoredCall> calls,
                                      Replay::Inputs inputs) {
    auto& current = context();
    const auto& options = current.options;
    Session session(options, executable,
                    std::make_unique<DeviceServer>(options, "submission", DeviceServer::ReplayDevice::runs_kernels),
                    Session::Role::submission);
    Replay replay(options, executable, *session.device(), inputs);
    RandomStream random(current.seed, "again " + current.test);
    const TimeLimit limit(2 * options.seconds);
    std::optional<Suspicion> suspicion;
    std::vector<std::string> notes;
    for (const StoredCall& call : calls) {
        const Arena arena(call.spec, random);
        detail::declare_host_work(call.spec.function, call.host_work);
        session.wait_until_ready(call.spec, limit);
        if (!is_compared(call.spec)) replay.call(call.spec, false, limit);
        suspicion = session.call(call.spec, arena, limit, notes, is_compared(call.spec) ? &replay : nullptr).suspicion;
    }
    return suspicion;
}

[[noreturn]] void blame(const std::string& function, const Suspicion& suspicion) {
    auto& current = context();
    current.value_dependent.insert(function);
    current.add_sign(sign::origin);
    if (!suspicion.review.empty()) current.review.push_back(suspicion.review);
    throw SubmissionFailure(suspicion.text);
}

}  // namespace

void check_suspicion(const std::string& executable, std::span<const StoredCall> calls, const Suspicion& suspicion) {
    auto& current = context();
    const std::string& function = calls.back().spec.function;
    if (current.value_dependent.contains(function) && !suspicion.needs_kernels) blame(function, suspicion);
    // Random numbers and the order of host threads are sometimes the same twice. So a difference that may come from
    // them must appear in several rounds: one that comes in half of the runs gets through one round in four, and
    // through all of these once in a million.
    constexpr int rounds = 10;
    std::optional<Suspicion> found;
    bool is_repeatable = true;
    for (int round = 0; round < rounds; ++round) {
        found = compare_runs(executable, calls, Replay::Inputs::other);
        if (!found) return;
        is_repeatable = !compare_runs(executable, calls, Replay::Inputs::same);
        if (!is_repeatable || !found->may_be_chance) break;
    }
    if (is_repeatable) blame(function, *found);
    current.review.emplace_back(
        "what its host code asks of the device differs from run to run, with equal inputs; a clock, random numbers and "
        "host threads do that");
    if (found->changes <= device::OriginVerdict::max_changes) return;
    throw SubmissionFailure(fmt::format(
        "{} asks something else of the device each time that it is called, with equal inputs too, so that nobody can "
        "tell where its result comes from. Do random numbers, clocks or host threads decide about its copies, launches "
        "or arguments? Make it repeatable",
        function));
}

}  // namespace warpgrade::judge
