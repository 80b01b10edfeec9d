// Replays of calls: their inputs, their number, and the message if they make other requests to the device.
#include "judge/replay.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "judge/context.hpp"
#include "judge/judged.hpp"
#include "judge/origin.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

Options options_of(const std::string& device = "fake:kernels") {
    Options options;
    options.sandbox = WG_SANDBOX, options.device_server = WG_FAKE_DEVICE, options.device = device;
    options.no_sandbox = true;
    return options;
}

template <class T>
ArgumentData given(wire::Kind kind, const std::vector<T>& values) {
    return {kind, wire::type_of<T>(), 0, std::as_bytes(std::span(values)), values.size(), ""};
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

// A replay of the lab's right program.
struct Replayed {
    explicit Replayed(std::uint64_t seed = 7, Replay::Inputs inputs = Replay::Inputs::other,
                      const std::string& program = "correct")
        : options((context().seed = seed, context().begin_test("replayed"), options_of())),
          device(options, "submission", DeviceServer::ReplayDevice::skips_kernels),
          replay(options, WG_PROGRAMS "/program-" + program, device, inputs) {}
    bool call(const CallSpec& spec, double seconds = 60) { return replay.call(spec, false, TimeLimit(seconds)); }
    Options options;
    DeviceServer device;
    Replay replay;
};

// The replay's values for each of these arrays. The program refuses the call, but only after its inputs were chosen.
template <class T>
std::vector<std::vector<T>> instead_of(const std::vector<std::vector<T>>& arrays, std::uint64_t seed = 7) {
    CallSpec spec;
    spec.function = "scale";
    for (const auto& array : arrays) spec.arguments.push_back(given(wire::Kind::in, array));
    Replayed it(seed);
    CHECK(it.call(spec));
    std::vector<std::vector<T>> others;
    for (std::size_t i = 0; i < arrays.size(); ++i) others.push_back(values_of<T>(it.replay.before(i)));
    return others;
}

template <class T>
std::vector<T> counted(std::size_t count) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), T{1});
    return values;
}

template <class T>
std::uint64_t sum_of(const std::vector<T>& values) {
    std::uint64_t sum = 0;
    for (const T value : values) sum = sum * 31 + static_cast<std::uint64_t>(value);
    return sum;
}

// True if the elements of each group of four follow each other in the rotated array 1, 2, 3, …
bool is_in_fours(const std::vector<int>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i % 4 != 0 && values[i] != values[i - 1] % std::ssize(values) + 1) return false;
    return true;
}

}  // namespace

TEST_CASE("a replay's arrays hold the elements of the call's, turned, a few at a time") {
    const auto numbers = counted<int>(1024);
    const auto other = instead_of<int>({numbers})[0];
    REQUIRE(other.size() == 1024);
    CHECK(is_in_fours(other));
    CHECK((std::ranges::min(other) >= 1 && std::ranges::max(other) <= 1024));
    // Each group comes from one of eight places behind the turn, and all of them are taken.
    std::set<int> places;
    for (int i = 0; i < 1024; i += 4) places.insert((other[i] - 1 - i + 2048) % 1024);
    CHECK(places.size() == 8);
    const auto is_run = [&](int first) {
        for (int i = 0; i < 8; ++i)
            if (!places.contains((first + i) % 1024)) return false;
        return true;
    };
    CHECK(std::ranges::any_of(places, is_run));
    // Not the same places again for the next sixteen groups.
    int again = 0;
    for (int i = 0; i < 64; ++i)
        again += (other[i] - 1 - i + 2048) % 1024 == (other[64 + i] - 1 - 64 - i + 2048) % 1024;
    CHECK(again < 64);
    // From sixteen groups on; fewer elements are taken one by one.
    CHECK(is_in_fours(instead_of<int>({counted<int>(64)})[0]));
    CHECK_FALSE(is_in_fours(instead_of<int>({counted<int>(63)})[0]));
    // The last group is what is left of one.
    const auto odd = instead_of<int>({counted<int>(1023)})[0];
    CHECK(is_in_fours(odd));
    CHECK((std::ranges::min(odd) >= 1 && std::ranges::max(odd) <= 1023));
    CHECK(instead_of<int>({{5}})[0] == std::vector<int>{5});
    CHECK(instead_of<int>({{}})[0].empty());
}

TEST_CASE("a replay's numbers with a fraction are all less by one factor from a half to one") {
    double least = 1, most = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const auto other = instead_of<double>({counted<double>(256)}, seed)[0];
        const double factor = other[1] - other[0] > 0 ? other[1] - other[0] : other[2] - other[1];
        for (const double value : other) CHECK(std::abs(value / factor - std::round(value / factor)) < 1e-9);
        CHECK((factor >= 0.5 && factor < 1));
        least = std::min(least, factor), most = std::max(most, factor);
    }
    CHECK(least < 0.7);
    CHECK(most > 0.8);
    const auto other = instead_of<float>({counted<float>(256)})[0];
    CHECK((std::ranges::max(other) < 256 && std::ranges::max(other) > 120));
}

TEST_CASE("equal arrays stay equal in a replay, and others get other turns") {
    const std::vector<unsigned char> nine{1, 2, 3, 4, 5, 6, 7, 8, 9}, last{1, 2, 3, 4, 5, 6, 7, 8, 10};
    const auto others = instead_of<unsigned char>({nine, nine, last});
    CHECK(others[0] == others[1]);
    CHECK(instead_of<unsigned char>({last, nine})[1] == others[0]);  // in another call as well
    CHECK(instead_of<unsigned char>({nine}, 8)[0] != others[0]);     // of another seed
    const auto ending = instead_of<int>({counted<int>(300), counted<int>(301)});
    CHECK(!std::equal(ending[0].begin(), ending[0].begin() + 20, ending[1].begin()));
}

// Two machines that grade one class must decide the same.
TEST_CASE("what a replay of a seed is given never changes") {
    CHECK(instead_of<unsigned char>({counted<unsigned char>(9)})[0] ==
          std::vector<unsigned char>{6, 8, 1, 7, 1, 8, 7, 8, 2});
    CHECK(sum_of(instead_of<short>({counted<short>(300)})[0]) == 0xb49d5efb8c28196a);
    CHECK(sum_of(instead_of<int>({counted<int>(3000)})[0]) == 0x55141168242ca4a4);
    CHECK(sum_of(instead_of<long>({counted<long>(1001)})[0]) == 0x19b3bbbd4e3c91d8);
    auto floats = counted<float>(300);
    for (float& value : floats) value *= 1000;
    CHECK(sum_of(instead_of<float>({floats})[0]) == 0xf2dffefb6c797265);
    auto doubles = counted<double>(300);
    for (double& value : doubles) value *= 1e9;
    CHECK(sum_of(instead_of<double>({doubles})[0]) == 0xaf8934096b8b02b0);
}

TEST_CASE("a replay with the same inputs has them, and an output holds one byte again and again") {
    const auto numbers = counted<float>(10);
    CallSpec spec{"scale",
                  {given(wire::Kind::in, numbers),
                   {wire::Kind::out, wire::Type::f32, 0, {}, 10, ""},
                   {wire::Kind::scalar, wire::Type::f32, 0, {}, 0, "0"},
                   {wire::Kind::scalar, wire::Type::i32, 10, {}, 0, "10"}}};
    for (const auto inputs : {Replay::Inputs::same, Replay::Inputs::other}) {
        Replayed it(7, inputs);
        CHECK(it.replay.calls() == 0);
        const auto begin = it.replay.used();
        CHECK(it.call(spec));
        const auto after = it.replay.used();
        CHECK(after > begin);
        CHECK(it.call(spec));
        CHECK(it.replay.used() > after);
        CHECK(it.replay.calls() == 2);
        CHECK((values_of<float>(it.replay.before(0)) == numbers) == (inputs == Replay::Inputs::same));
        const auto output = it.replay.before(1);
        REQUIRE(output.size() == 40);
        CHECK(std::ranges::count(output, output[0]) == 40);
    }
}

TEST_CASE("a replay that does not come back is told so") {
    const auto numbers = counted<float>(10);
    const CallSpec spec{"scale",
                        {given(wire::Kind::in, numbers),
                         {wire::Kind::out, wire::Type::f32, 0, {}, 10, ""},
                         {wire::Kind::scalar, wire::Type::f32, 0, {}, 0, "0"},
                         {wire::Kind::scalar, wire::Type::i32, 10, {}, 0, "10"}}};
    for (const char* program : {"exits", "exits_at_start"})
        CHECK_FALSE(Replayed(7, Replay::Inputs::same, program).call(spec));
    CHECK_FALSE(Replayed(7, Replay::Inputs::same, "hangs").call(spec, 0.3));
}

TEST_CASE("a call's other inputs: all numbers, but no whole ones among several arrays, which may be places") {
    const auto floats = counted<float>(1000);
    const auto doubles = counted<double>(1000);
    const auto ints = counted<int>(1000);
    const auto changed = [](const CallSpec& spec, unsigned number) {
        const StoredCall other = with_other_inputs(spec, number);
        std::vector<bool> which;
        for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
            CHECK(other.spec.arguments[i].input.size() == spec.arguments[i].input.size());
            which.push_back(!std::ranges::equal(other.spec.arguments[i].input, spec.arguments[i].input));
        }
        return which;
    };
    const CallSpec several{"f",
                           {given(wire::Kind::in, ints),
                            given(wire::Kind::in, floats),
                            given(wire::Kind::in, doubles),
                            {wire::Kind::out, wire::Type::f32, 0, {}, 1000, ""}}},
        alone{"f", {given(wire::Kind::in, ints), {}}};
    CHECK(changed(several, 1) == std::vector<bool>{false, true, true, false});
    CHECK(changed(alone, 1) == std::vector<bool>{true, false});
    // The same ones for the same number alone.
    const auto numbers = [&](unsigned number) { return with_other_inputs(alone, number).data[0]; };
    CHECK(numbers(1) == numbers(1));
    CHECK(numbers(1) != numbers(2));
}

TEST_CASE("which calls there are to compare") {
    auto options = options_of("vgpu:h100");
    CHECK(can_replay(options));
    options.no_replay = true;
    CHECK_FALSE(can_replay(options));
    CHECK_FALSE(can_replay(options_of("gpu:0")));
    options = options_of();
    options.device_server.clear();
    CHECK_FALSE(can_replay(options));

    const auto numbers = counted<int>(3);
    const CallSpec with{"of_replay", {given(wire::Kind::in, numbers)}},
        without{"of_replay", {{wire::Kind::out, wire::Type::i32, 0, {}, 3, ""}, {}}};
    CHECK(is_compared(with));
    CHECK_FALSE(is_compared(without));
    judge::detail::declare_host_work("of_replay", HostWork::returned);
    CHECK(is_compared(with));
    judge::detail::declare_host_work("of_replay", HostWork::all);
    CHECK_FALSE(is_compared(with));
    judge::detail::declare_host_work("of_replay", HostWork::none);
    judge::detail::declare_host_decisions("of_replay", true);
    CHECK_FALSE(is_compared(with));
    judge::detail::declare_host_decisions("of_replay", false);
    CHECK(is_compared(with));
    // Its own copy of the inputs: those of the call end with it.
    const StoredCall stored(with);
    CHECK(values_of<int>(stored.spec.arguments[0].input) == numbers);
    CHECK(stored.spec.arguments[0].input.data() != with.arguments[0].input.data());
}

namespace {

// Judges one call on a device with these results of comparisons, and keeps the verdict.
struct OnDevice {
    explicit OnDevice(const std::string& device, const std::string& tests = "--test \"has no mistakes\"")
        : judged(::judge("correct", "--device-server " WG_FAKE_DEVICE " --device fake:" + device + ' ' + tests)),
          verdict(judged.cases.at("has no mistakes")),
          message(verdict["message"]) {}
    // How often the device was asked to compare, with other inputs or with equal ones.
    [[nodiscard]] std::size_t asked(const std::string& what) const {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = judged.output.find("compare: " + what + '\n', at)) != std::string::npos; ++at)
            ++count;
        return count;
    }
    Judged judged;
    nlohmann::json verdict;
    std::string message;
};

const std::string differs =
    "what its host code asks of the device differs from run to run, with equal inputs; a clock, random numbers and "
    "host "
    "threads do that";

}  // namespace

TEST_CASE("what differs with other inputs alone is the submission's doing") {
    const OnDevice decided("decides");
    INFO(decided.judged.output);
    CHECK(decided.verdict["status"] == "fail");
    CHECK_THAT(decided.message, Contains("depends on the inputs' values: a copy of 8 bytes"));
    CHECK(decided.verdict["signs"] == nlohmann::json({"origin"}));
    CHECK(decided.verdict["review"] ==
          nlohmann::json({"what its host code asks of the device depends on the inputs' values"}));
    // The call itself, then ten times more with other inputs and with equal ones, in new processes: random numbers and
    // the order of host threads may be the same twice.
    CHECK(decided.asked("other inputs") == 11);
    CHECK(decided.asked("equal inputs") == 10);

    // What goes up is not chosen by chance. That kernels' work was done by copies accuses nobody.
    for (const char* what : {"decides_uploads", "decides_places"}) {
        const OnDevice found(what);
        INFO(what);
        CHECK(found.verdict["status"] == "fail");
        CHECK(found.asked("other inputs") == 2);
        CHECK(found.asked("equal inputs") == 1);
        CHECK(found.verdict["review"].size() ==
              (found.message.find("sort, transpose or pick") != std::string::npos ? 0 : 1));
    }
}

TEST_CASE("what differs without a device's kernels is looked at with them") {
    const OnDevice gone("decides_without_kernels");
    INFO(gone.judged.output);
    CHECK(gone.verdict["status"] == "pass");
    CHECK(gone.verdict["review"].empty());
    CHECK(gone.asked("other inputs") == 2);
    CHECK(gone.asked("equal inputs") == 0);
}

TEST_CASE("what differs with equal inputs, too, proves nothing, up to four changes") {
    const OnDevice four("differs_4");
    INFO(four.judged.output);
    CHECK(four.verdict["status"] == "pass");
    CHECK(four.verdict["review"] == nlohmann::json({differs}));
    CHECK(four.asked("other inputs") == 2);
    CHECK(four.asked("equal inputs") == 1);
    const OnDevice five("differs_5");
    CHECK(five.verdict["status"] == "fail");
    CHECK(five.verdict["review"] == nlohmann::json({differs}));
    CHECK_THAT(five.message, Contains("scale asks something else of the device each time that it is called"));
    CHECK(OnDevice("differs_0").asked("equal inputs") == 1);
}

TEST_CASE("a function that was to blame in one test is so in the next, unless kernels may tell otherwise") {
    const std::string both = "--test \"has no mistakes\" --test measures";
    const auto blamed = [&](const std::string& device) {
        const OnDevice on(device, both);
        INFO(on.judged.output);
        CHECK(on.judged.cases.at("measures")["status"] == "fail");
        return on.asked("equal inputs");
    };
    CHECK(blamed("decides") == 10);
    CHECK(blamed("decides_needs_kernels") == 20);
}
