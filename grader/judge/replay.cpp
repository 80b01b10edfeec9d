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

// Elements from about the same place of the array after a turn, a few at a time, some of them twice and some not at
// all: other values of the same kind, with other sums, extremes and orders.
template <class T>
std::vector<std::byte> resampled(std::span<const std::byte> bytes, RandomStream& random) {
    constexpr std::size_t most = 4, reach = 8;
    std::vector<std::byte> result(bytes.begin(), bytes.end());
    const std::size_t count = bytes.size() / sizeof(T);
    const std::size_t group = count < 16 * most ? 1 : most;
    // Numbers that are cheap: nobody sees them who could make use of them.
    std::uint64_t jitter = random.next() | 1;
    const std::size_t turn = random.below(count);
    const T factor = std::is_floating_point_v<T> ? static_cast<T>((1 + random.unit24()) / 2) : T{1};
    for (std::size_t i = 0; i < count; i += group) {
        if (i % (16 * group) == 0) jitter ^= jitter << 13, jitter ^= jitter >> 7, jitter ^= jitter << 17;
        std::size_t from = i + turn + (jitter >> i / group % 16 * 4) % reach;
        while (from >= count) from -= count;  // for an array takes less time than a division
        const std::size_t size = std::min(group, count - i);
        T values[most] = {};
        if (from + size <= count)
            std::memcpy(values, bytes.data() + from * sizeof(T), size * sizeof(T));
        else
            for (std::size_t k = 0; k < size; ++k)
                std::memcpy(&values[k], bytes.data() + (from + k) % count * sizeof(T), sizeof(T));
        for (T& value : values) value = static_cast<T>(value * factor);
        std::memcpy(result.data() + i * sizeof(T), values, size * sizeof(T));
    }
    return result;
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
    std::uint64_t hash = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL, hash ^= hash >> 29;
    }
    return hash;
}

// Equal arrays stay equal, in the same call and in another: host code may keep one that it has already sent.
std::vector<std::byte> other_values(const ArgumentData& argument) {
    RandomStream random(context().seed, fmt::format("instead of {:x}", hash_of(argument.input)));
    switch (argument.type) {
        case wire::Type::f32:
            return resampled<float>(argument.input, random);
        case wire::Type::f64:
            return resampled<double>(argument.input, random);
        default:
            break;
    }
    switch (wire::bytes_of(argument.type)) {
        case 1:
            return resampled<std::uint8_t>(argument.input, random);
        case 2:
            return resampled<std::uint16_t>(argument.input, random);
        case 4:
            return resampled<std::uint32_t>(argument.input, random);
        default:
            return resampled<std::uint64_t>(argument.input, random);
    }
}

}  // namespace

Replay::Replay(const Options& options, const std::string& executable, DeviceServer& device, Inputs inputs)
    : inputs_(inputs),
      device_(device),
      worker_(options, executable, device.replay_socket(), "replay"),
      random_(context().seed, "replay of " + context().test) {
    device.replay_was_passed_on();
    worker_.pause();
}

void Replay::vary(const CallSpec& spec) {
    spec_ = spec;
    data_.assign(spec.arguments.size(), {});
    if (inputs_ == Inputs::same) return;
    for (std::size_t i = 0; i < data_.size(); ++i) {
        data_[i] = other_values(spec.arguments[i]);
        spec_.arguments[i].input = data_[i];
    }
}

bool Replay::call(const CallSpec& spec, bool compare, TimeLimit limit) {
    ++calls_;
    const auto begin = Clock::now();
    vary(spec);
    arena_ = std::make_unique<Arena>(spec_, random_, Arena::Prefill::one_byte);
    worker_.go_on();
    const bool came_back = make_call(compare, limit);
    worker_.pause();
    used_ += Clock::now() - begin;
    return came_back;
}

bool Replay::make_call(bool compare, TimeLimit& limit) {
    wire::Reply reply;
    const auto hears = [&] { return worker_.receive(reply, limit) == WorkerProcess::Event::reply; };
    if (!ready_ && !hears()) return false;
    ready_ = true;
    wire::Call call = arena_->call();
    call.sequence = static_cast<std::uint32_t>(calls_);
    if (!worker_.send(call, arena_->descriptor())) return false;
    if (!hears()) return false;
    device_.end_replay(std::max(limit.last(), Clock::now() + DeviceServer::grace), !compare);
    return true;
}

std::span<const std::byte> Replay::before(std::size_t argument) const {
    const ArgumentData& its = spec_.arguments.at(argument);
    return its.kind == wire::Kind::out ? arena_->prefill(argument) : its.input;
}

StoredCall::StoredCall(const CallSpec& call) : spec(call), data(call.arguments.size()) {
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i].assign(call.arguments[i].input.begin(), call.arguments[i].input.end());
        spec.arguments[i].input = data[i];
    }
}

bool can_replay(const Options& options) {
    return !options.no_replay && !options.device_server.empty() && device::kind_of(options.device).analysed;
}

std::unique_ptr<DeviceServer> device_of_submission(const Options& options) {
    using ReplayDevice = DeviceServer::ReplayDevice;
    return std::make_unique<DeviceServer>(options, "submission",
                                          can_replay(options) ? ReplayDevice::skips_kernels : ReplayDevice::none);
}

bool is_compared(const CallSpec& call) {
    return by_host(call.function) != ByHost::all && !is_decided_by_host(call.function) &&
           std::ranges::any_of(call.arguments, [](const ArgumentData& argument) { return !argument.input.empty(); });
}

namespace {

// What the last of these calls shows when each is made in two new processes, the second with these inputs.
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
        session.wait_until_ready(call.spec, limit);
        if (!is_compared(call.spec)) replay.call(call.spec, false, limit);
        suspicion = session.call(call.spec, arena, limit, notes, is_compared(call.spec) ? &replay : nullptr).suspicion;
    }
    return suspicion;
}

[[noreturn]] void blame(const std::string& function, const Suspicion& suspicion) {
    auto& current = context();
    current.to_blame.insert(function);
    current.add_sign(sign::origin);
    current.review.emplace_back("its result was not computed by the device");
    throw SubmissionFailure(suspicion.text);
}

}  // namespace

void settle_suspicion(const std::string& executable, std::span<const StoredCall> calls, const Suspicion& suspicion) {
    auto& current = context();
    const std::string& function = calls.back().spec.function;
    if (current.to_blame.contains(function) && !suspicion.needs_kernels) blame(function, suspicion);
    // What differs in nothing but its order, addresses and streams may be the doing of host threads, which now and then
    // take turns differently: that has to be seen again and again.
    constexpr int rounds_for_order = 4;
    std::optional<Suspicion> found;
    bool is_repeatable = true;
    for (int round = 0; round < rounds_for_order; ++round) {
        found = compare_runs(executable, calls, Replay::Inputs::other);
        if (!found) return;
        is_repeatable = !compare_runs(executable, calls, Replay::Inputs::same);
        if (!is_repeatable || found->changes != 0) break;
    }
    if (is_repeatable) blame(function, *found);
    current.review.emplace_back("what its host code asks of the device differs from run to run, with equal inputs");
    if (found->changes <= device::OriginVerdict::max_changes) return;
    throw SubmissionFailure(fmt::format(
        "{} asks something else of the device each time that it is called, with equal inputs too, so that nobody can "
        "tell where its result comes from. Do random numbers, clocks or host threads decide about its copies, launches "
        "or arguments? Make it repeatable",
        function));
}

}  // namespace warpgrade::judge
