#include "judge/timed_call.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "device/kinds.hpp"
#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/random.hpp"

namespace warpgrade::judge {
namespace {

bool is_same_launch(const device::LaunchRecord& one, const device::LaunchRecord& other, bool same_device) {
    const device::LaunchConfig &a = one.config, &b = other.config;
    const auto shape = [](const device::Dim3& d) { return std::tuple(d.x, d.y, d.z); };
    if (one.kernel != other.kernel) return false;
    return !same_device || (shape(a.grid) == shape(b.grid) && shape(a.block) == shape(b.block) &&
                            a.dynamic_shared_bytes == b.dynamic_shared_bytes);
}

// The place of each timed launch among the launches of the analysed call; none if that launched something else. Where
// the devices are not of one size, a kernel may be launched more or fewer times in a row, such as passes over sums of
// blocks: the further ones have the place of the last.
std::optional<std::vector<device::LaunchRecord*>> match(Profile& profile,
                                                        const std::vector<device::LaunchRecord>& timed,
                                                        bool same_device) {
    struct Rest {
        std::vector<device::LaunchRecord>& launches;
        std::size_t next = 0;
        [[nodiscard]] bool ended() const { return next == launches.size(); }
        [[nodiscard]] bool repeats() const { return next > 0 && launches[next].kernel == launches[next - 1].kernel; }
    };
    Rest rests[] = {{profile.launches}, {profile.not_part}};
    std::vector<device::LaunchRecord*> places;
    const auto take = [&](const device::LaunchRecord& launch) {
        for (auto& [launches, next] : rests)
            if (next < launches.size() && is_same_launch(launches[next], launch, same_device)) {
                places.push_back(&launches[next++]);
                return true;
            }
        return false;
    };
    const auto skip_repeats = [&] {
        for (Rest& rest : rests)
            while (!same_device && !rest.ended() && rest.repeats()) ++rest.next;
    };
    for (const device::LaunchRecord& launch : timed) {
        if (take(launch)) continue;
        if (!same_device && !places.empty() && places.back()->kernel == launch.kernel) {
            places.push_back(places.back());
            continue;
        }
        skip_repeats();
        if (!take(launch)) return std::nullopt;
    }
    skip_repeats();
    if (std::ranges::any_of(rests, [](const Rest& rest) { return !rest.ended(); })) return std::nullopt;
    return places;
}

// Floats may differ as sums in another order do.
template <class Float>
bool are_close(std::span<const std::byte> a, std::span<const std::byte> b) {
    constexpr double tolerance = 1e-3;
    std::vector<Float> left(a.size() / sizeof(Float)), right(left.size());
    std::memcpy(left.data(), a.data(), left.size() * sizeof(Float));
    std::memcpy(right.data(), b.data(), right.size() * sizeof(Float));
    double largest = 0;
    for (const Float each : left)
        if (std::isfinite(each)) largest = std::max(largest, std::abs(double{each}));
    for (std::size_t i = 0; i < left.size(); ++i) {
        const double x = left[i], y = right[i];
        if (!(x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * largest)) return false;
    }
    return true;
}

bool are_close(wire::Type type, std::span<const std::byte> a, std::span<const std::byte> b) {
    if (a.size() != b.size()) return false;
    if (std::ranges::equal(a, b)) return true;
    if (type == wire::Type::f32) return are_close<float>(a, b);
    return type == wire::Type::f64 && are_close<double>(a, b);
}

}  // namespace

bool has_same_results(const CallSpec& spec, const CallResult& one, const CallResult& other) {
    const auto bytes = [&](const CallResult& call) {
        return std::as_bytes(std::span(&call.result, 1)).first(wire::bytes_of(spec.result));
    };
    if (!are_close(spec.result, bytes(one), bytes(other)) || one.outputs.size() != other.outputs.size()) return false;
    std::size_t next = 0;
    return std::ranges::all_of(spec.arguments, [&](const ArgumentData& argument) {
        if (!wire::is_written_back(argument.kind)) return true;
        const std::size_t index = next++;
        return are_close(argument.type, one.outputs.at(index), other.outputs.at(index));
    });
}

LockedFile::LockedFile(const std::string& path) {
    if (path.empty()) return;
    file_ = device::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file_ || ::flock(file_.get(), LOCK_EX) != 0)
        throw InfrastructureError("the lock of the timing device cannot be held: " + path);
}

bool has_varying_times() {
    const auto& current = context();
    return current.is_timed && !current.options.timing_device.empty() &&
           !device::find_kind(current.options.timing_device).repeatable;
}

void check_same_work(const CallSpec& spec, CallResult& one, const CallResult& timed, bool same_device,
                     bool compare_results) {
    if (!match(one.profile, timed.profile.launches, same_device))
        throw SubmissionFailure(
            "on the device that times it, your program launches other kernels than on the one that looks at them: "
            "launch the same on each device");
    if (compare_results && !has_same_results(spec, one, timed))
        throw SubmissionFailure(
            "on the device that times it, your program has other results than on the one that looks at them");
}

void take_times(Profile& profile, const Profile& timed, bool times_vary) {
    const auto places = match(profile, timed.launches, false).value();
    const bool again = !profile.call_samples_ns.empty();
    std::optional<double> kernels_ns = 0;  // of the launches that the outputs depend on
    for (auto* const launches : {&profile.launches, &profile.not_part})
        for (device::LaunchRecord& launch : *launches) {
            std::optional<double> now_ns = 0;
            for (std::size_t i = 0; i < places.size(); ++i) {
                if (places[i] != &launch) continue;
                const auto& time_ns = timed.launches[i].duration_ns;
                now_ns = now_ns && time_ns ? std::optional(*now_ns + *time_ns) : std::nullopt;
                launch.start_ns = timed.launches[i].start_ns;
            }
            if (launches == &profile.launches)
                kernels_ns = kernels_ns && now_ns ? std::optional(*kernels_ns + *now_ns) : std::nullopt;
            launch.duration_ns =
                again && launch.duration_ns && now_ns ? std::min(*launch.duration_ns, *now_ns) : now_ns;
        }
    profile.time_ns = timed.time_ns;
    if (!times_vary) return;
    profile.call_samples_ns.push_back(timed.time_ns);
    profile.clock_samples_ghz.push_back(timed.mean_clock_ghz.value_or(0));
    profile.time_ns = median(profile.call_samples_ns);
    if (kernels_ns) profile.kernel_samples_ns.push_back(*kernels_ns);
}

void drop_slow_pairs(Profile& one, Profile& other) {
    constexpr double lowest = 0.98;  // of the fastest clock
    double fastest = 0;
    for (const Profile* profile : {&one, &other})
        for (const double ghz : profile->clock_samples_ghz) fastest = std::max(fastest, ghz);
    const auto is_slow = [&](const Profile& profile, std::size_t i) {
        const double ghz = profile.clock_samples_ghz[i];
        return ghz > 0 && ghz < lowest * fastest;
    };
    const std::size_t pairs = std::min(one.clock_samples_ghz.size(), other.clock_samples_ghz.size());
    for (std::size_t i = pairs; i-- > 1;) {
        if (!is_slow(one, i) && !is_slow(other, i)) continue;
        for (Profile* profile : {&one, &other})
            for (auto* const samples :
                 {&profile->call_samples_ns, &profile->kernel_samples_ns, &profile->clock_samples_ghz})
                if (i < samples->size()) samples->erase(samples->begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (Profile* profile : {&one, &other})
        if (!profile->call_samples_ns.empty()) profile->time_ns = median(profile->call_samples_ns);
}

double impossible_time_ns(const device::Counters& counters, const device::DeviceProperties& gpu) {
    constexpr double instructions = 4, sectors = 4, wavefronts = 1;  // a multiprocessor's peaks, in each cycle
    const double cycles_per_ns = gpu.multi_processor_count * gpu.clock_ghz;
    if (cycles_per_ns <= 0) return 0;
    const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
    const double cycles =
        std::max({number(counters.inst_executed) / instructions,
                  number(counters.global_load_sectors + counters.global_store_sectors) / sectors,
                  number(counters.shared_load_wavefronts + counters.shared_store_wavefronts) / wavefronts});
    return cycles / cycles_per_ns / 2;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Ratio find_ratio(std::span<const double> slow, std::span<const double> fast) {
    constexpr std::size_t rounds = 400, tail = rounds / 40;
    if (slow.empty() || fast.empty()) return {};
    RandomStream random(0, "bootstrap");
    const auto middle_of_draw = [&](std::span<const double> from) {
        std::vector<double> drawn(from.size());
        for (double& each : drawn) each = from[random.below(from.size())];
        return median(std::move(drawn));
    };
    std::vector<double> ratios(rounds);
    for (double& ratio : ratios) {
        const double above = middle_of_draw(slow);
        ratio = above / middle_of_draw(fast);
    }
    std::ranges::sort(ratios);
    const double middle = median({slow.begin(), slow.end()}) / median({fast.begin(), fast.end()});
    return {std::min(ratios[tail], middle), middle, std::max(ratios[rounds - 1 - tail], middle)};
}

}  // namespace warpgrade::judge
