#include "judge/replay.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/origin.hpp"
#include "judge/signs.hpp"

namespace warpgrade::judge {
namespace {

// Numbers that are cheap: nobody sees them who could make use of them.
class Jitter {
  public:
    explicit Jitter(std::uint64_t seed) : state_(seed | 1) {}
    std::uint64_t next() {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return state_;
    }

  private:
    std::uint64_t state_;
};

// Elements from about the same place of the array after a turn, some of them twice and some not at all: other values
// of the same kind, with other sums, extremes and orders.
template <class T>
std::vector<std::byte> resampled(std::span<const std::byte> bytes, RandomStream& random) {
    std::vector<std::byte> result(bytes.begin(), bytes.end());
    const std::size_t count = bytes.size() / sizeof(T);
    if (count == 0) return result;
    Jitter jitter(random.next());
    const std::size_t turn = random.below(count);
    const T factor = std::is_floating_point_v<T> ? static_cast<T>((1 + random.unit24()) / 2) : T{1};
    for (std::size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, bytes.data() + (i + turn + jitter.next() % 8) % count * sizeof value, sizeof value);
        value = static_cast<T>(value * factor);
        std::memcpy(result.data() + i * sizeof value, &value, sizeof value);
    }
    return result;
}

std::vector<std::byte> other_values(const ArgumentData& argument, RandomStream& random) {
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

std::unique_ptr<DeviceServer> device_for(Options options, DeviceServer::Kernels kernels) {
    options.checks = "none";  // they are about the submission's own call
    return std::make_unique<DeviceServer>(options, "replay", kernels);
}

}  // namespace

Replay::Replay(const Options& options, const std::string& executable, Inputs inputs, DeviceServer::Kernels kernels)
    : inputs_(inputs),
      session_(options, executable, device_for(options, kernels), Session::Role::replay),
      random_(context().seed, "replay of " + context().test),
      trace_(memfd_create("trace", MFD_CLOEXEC)) {
    if (!trace_) throw InfrastructureError(std::string("a file for a trace: ") + std::strerror(errno));
}

bool Replay::call(const CallSpec& spec, Clock::time_point deadline) {
    ++calls_;
    const auto begin = Clock::now();
    StoredCall copy(spec);
    spec_ = std::move(copy.spec);
    data_ = std::move(copy.data);
    if (inputs_ == Inputs::other)
        for (std::size_t i = 0; i < data_.size(); ++i) {
            if (data_[i].empty()) continue;
            // Arrays that are equal stay so: the same vector may be passed twice.
            const auto twin = std::ranges::find_if(spec.arguments, [&](const ArgumentData& argument) {
                return std::ranges::equal(argument.input, spec.arguments[i].input);
            });
            const auto at = static_cast<std::size_t>(twin - spec.arguments.begin());
            data_[i] = at < i ? data_[at] : other_values(spec.arguments[i], random_);
            spec_.arguments[i].input = data_[i];
        }
    arena_ = std::make_unique<Arena>(spec_, random_);
    const bool came_back = session_.trace_call(*arena_, deadline, trace_.get());
    used_ += Clock::now() - begin;
    return came_back;
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

bool can_replay(const Options& options) { return !options.device_server.empty() && !options.device.starts_with("gpu"); }

bool is_compared(const CallSpec& call) {
    return by_host(call.function) != ByHost::all && !is_decided_by_host(call.function);
}

namespace {

// What the last of these calls shows when each is made in two new processes, the second with these inputs.
std::optional<Suspicion> compare_runs(const std::string& executable, std::span<const StoredCall> calls,
                                      Replay::Inputs inputs) {
    auto& current = context();
    const auto& options = current.options;
    Session session(options, executable, std::make_unique<DeviceServer>(options), Session::Role::submission);
    Replay replay(options, executable, inputs, DeviceServer::Kernels::run);
    RandomStream random(current.seed, "again " + current.test);
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(2 * options.seconds));
    std::optional<Suspicion> suspicion;
    std::vector<std::string> notes;
    for (const StoredCall& call : calls) {
        const Arena arena(call.spec, random);
        session.wait_until_ready(call.spec, deadline);
        if (!is_compared(call.spec)) replay.call(call.spec, deadline);
        suspicion =
            session.call(call.spec, arena, deadline, notes, is_compared(call.spec) ? &replay : nullptr).suspicion;
    }
    return suspicion;
}

}  // namespace

void settle_suspicion(const std::string& executable, std::span<const StoredCall> calls) {
    auto& current = context();
    // What differs in nothing but its order, addresses and streams may be the doing of host threads, which now and then
    // take turns differently: that has to be seen again and again.
    constexpr int rounds_for_order = 4;
    std::optional<Suspicion> suspicion;
    bool is_repeatable = true;
    for (int round = 0; round < rounds_for_order; ++round) {
        suspicion = compare_runs(executable, calls, Replay::Inputs::other);
        if (!suspicion) return;
        is_repeatable = !compare_runs(executable, calls, Replay::Inputs::same);
        if (!is_repeatable || suspicion->changes != 0) break;
    }
    if (is_repeatable) {
        current.add_sign(sign::origin);
        current.review.emplace_back("its result was not computed by the device");
        throw SubmissionFailure(suspicion->text);
    }
    current.review.emplace_back("what its host code asks of the device differs from run to run, with equal inputs");
    if (suspicion->changes <= device::OriginVerdict::max_changes) return;
    throw SubmissionFailure(fmt::format(
        "{} asks something else of the device each time that it is called, with equal inputs too, so that nobody can "
        "tell where its result comes from. Do random numbers, clocks or host threads decide about its copies, launches "
        "or arguments? Make it repeatable",
        calls.back().spec.function));
}

}  // namespace warpgrade::judge
