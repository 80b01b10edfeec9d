// Calls that are made again on the device that times, and the files to which calls and accesses are added.
#include "judge/timed_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "judge/arena.hpp"
#include "judge/call_file.hpp"
#include "judge/errors.hpp"
#include "judge/random.hpp"
#include "judge/trace_file.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

device::LaunchRecord launch(const char* kernel, std::optional<double> duration_ns, std::optional<double> start_ns = 1) {
    device::LaunchRecord record;
    record.kernel = kernel;
    record.start_ns = start_ns, record.duration_ns = duration_ns;
    return record;
}

CallResult call(std::vector<device::LaunchRecord> launches, double time_ns) {
    CallResult result;
    result.profile.launches = std::move(launches);
    result.profile.time_ns = time_ns;
    return result;
}

template <class T>
std::vector<std::byte> raw(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

struct TemporaryFile {
    explicit TemporaryFile(const std::string& name)
        : path((std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))).string()) {
        std::filesystem::remove(path);
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
    [[nodiscard]] std::string text() const {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }
    std::string path;
};

}  // namespace

TEST_CASE("times are those of the device that times, for each launch") {
    auto profile = call({launch("a", 100), launch("c", 300)}, 1000).profile;
    profile.not_part = {launch("b", 200)};
    take_times(profile, call({launch("a", 7, 21), launch("b", 5, 22), launch("c", std::nullopt, 23)}, 50).profile,
               false);
    CHECK((profile.time_ns == 50 && profile.call_samples_ns.empty()));
    CHECK((profile.launches[0].duration_ns == 7 && profile.launches[0].start_ns == 21));
    CHECK((profile.not_part[0].duration_ns == 5 && profile.not_part[0].start_ns == 22));
    CHECK_FALSE(profile.launches[1].duration_ns);
    CHECK(profile.launches[1].start_ns == 23);
    CHECK_THROWS_AS(profile.kernel_time_ns(), MissingAnalysis);
}

TEST_CASE("where times vary, the median of calls and of kernels counts, and the least of each launch is shown") {
    auto profile = call({launch("a", 100), launch("c", 300)}, 1000).profile;
    profile.not_part = {launch("b", 200)};
    const auto take = [&](double a, double b, double c, double all) {
        take_times(profile, call({launch("a", a), launch("b", b), launch("c", c)}, all).profile, true);
    };
    take(7, 1, 2, 50);
    CHECK((profile.time_ns == 50 && profile.kernel_time_ns() == 9));
    take(6, 2, 5, 90);
    take(9, 3, 1, 60);
    CHECK(profile.time_ns == 60);
    CHECK(profile.kernel_samples_ns == std::vector<double>{9, 11, 10});
    CHECK(profile.kernel_time_ns() == 10);
    CHECK((profile.launches[0].duration_ns == 6 && profile.not_part[0].duration_ns == 1));
    CHECK(profile.launches[1].duration_ns == 1);
    // A call without the time of a kernel has none for all.
    take_times(profile, call({launch("a", 1), launch("b", 1), launch("c", std::nullopt)}, 70).profile, true);
    CHECK((profile.call_samples_ns.size() == 4 && profile.kernel_samples_ns.size() == 3));
}

TEST_CASE("pairs of calls of which one met a slow clock are dropped, all but the first") {
    const auto sampled = [](const std::vector<std::pair<double, double>>& calls) {
        auto profile = call({launch("a", 1)}, 1).profile;
        for (const auto& [ns, ghz] : calls) {
            auto timed = call({launch("a", ns - 1)}, ns);
            if (ghz > 0) timed.profile.mean_clock_ghz = ghz;
            take_times(profile, timed.profile, true);
        }
        return profile;
    };
    // The third pair is slow on this side and the fifth on the other. A clock that is not known is no slow one.
    auto one = sampled({{10, 1.5}, {20, 2}, {30, 1.95}, {40, 1.97}, {50, 2}, {60, 0}});
    auto other = sampled({{15, 2}, {25, 2}, {35, 2}, {45, 2}, {55, 1}, {65, 2}});
    drop_slow_pairs(one, other);
    CHECK(one.call_samples_ns == std::vector<double>{10, 20, 40, 60});
    CHECK(other.call_samples_ns == std::vector<double>{15, 25, 45, 65});
    CHECK(one.kernel_samples_ns == std::vector<double>{9, 19, 39, 59});
    CHECK(one.clock_samples_ghz == std::vector<double>{1.5, 2, 1.97, 0});
    CHECK((one.time_ns == 30 && other.time_ns == 35));
    drop_slow_pairs(one, other);
    CHECK(one.call_samples_ns.size() == 4);
}

TEST_CASE("who launches something else on the device that times is told so") {
    const auto refused = [](const std::vector<device::LaunchRecord>& launches, bool same_device = true) {
        auto result = call({launch("a", 100), launch("c", 300)}, 1000);
        result.profile.not_part = {launch("b", 200)};
        try {
            check_same_work({}, result, call(launches, 50), same_device, false);
        } catch (const SubmissionFailure& failure) {
            CHECK_THAT(failure.what(), Contains("launches other kernels"));
            return true;
        }
        return false;
    };
    const auto a = launch("a", 1), b = launch("b", 1), c = launch("c", 1);
    CHECK_FALSE(refused({a, b, c}));
    CHECK_FALSE(refused({b, a, c}));
    CHECK_FALSE(refused({a, c, b}));
    CHECK(refused({}));
    CHECK(refused({a, b}));
    CHECK(refused({a, c}));
    CHECK(refused({c, a, b}));
    CHECK(refused({a, b, c, c}));
    CHECK(refused({a, b, b, c}));
    // Grids may depend on the number of multiprocessors.
    const auto with = [&](auto change) {
        auto other = a;
        change(other.config);
        CHECK_FALSE(refused({other, b, c}, false));
        return refused({other, b, c});
    };
    CHECK_FALSE(with([](auto&) {}));
    CHECK(with([](auto& config) { config.grid.x = 2; }));
    CHECK(with([](auto& config) { config.grid.y = 2; }));
    CHECK(with([](auto& config) { config.grid.z = 2; }));
    CHECK(with([](auto& config) { config.block.x = 2; }));
    CHECK(with([](auto& config) { config.dynamic_shared_bytes = 4; }));
    // So may the number of launches of one kernel in a row, such as passes over sums of blocks.
    for (const auto& launches : {std::vector{a, a, b, c}, {a, b, c, c, c}, {a, c, b, b}}) {
        CHECK(refused(launches));
        CHECK_FALSE(refused(launches, false));
    }
    CHECK(refused({a, c, b, a}, false));
    CHECK(refused({a, b}, false));
    CHECK(refused({c, a, b}, false));
    CHECK(refused({a, b, c, launch("d", 1)}, false));
}

TEST_CASE("passes that only one of two devices needs have their times all the same") {
    auto profile = call({launch("pass", 8), launch("pass", 2), launch("end", 1)}, 20).profile;
    take_times(profile, call({launch("pass", 30), launch("end", 5)}, 40).profile, false);
    CHECK((profile.launches[0].duration_ns == 30 && profile.launches[1].duration_ns == 0));
    CHECK(profile.kernel_time_ns() == 35);
    profile = call({launch("pass", 8), launch("end", 1)}, 20).profile;
    take_times(profile, call({launch("pass", 30), launch("pass", 3), launch("end", 5)}, 40).profile, false);
    CHECK((profile.launches[0].duration_ns == 33 && profile.kernel_time_ns() == 38));
    profile = call({launch("pass", 8), launch("pass", 2)}, 20).profile;
    take_times(profile, call({launch("pass", 30)}, 40).profile, false);
    CHECK(profile.kernel_time_ns() == 30);
}

TEST_CASE("results are the same on both devices, but for the order of sums") {
    using wire::Kind, wire::Type;
    const auto same = [](Type type, std::vector<std::byte> one, std::vector<std::byte> other) {
        const CallSpec spec{"f", {{Kind::in, type}, {Kind::scalar, type}, {Kind::inout, type}, {Kind::out, type}}};
        auto result = call({}, 9);
        result.outputs = {raw<float>({1}), std::move(one)};
        auto timed = call({}, 5);
        timed.outputs = {raw<float>({1}), std::move(other)};
        CHECK_NOTHROW(check_same_work(spec, result, timed, true, false));
        try {
            check_same_work(spec, result, timed, true, true);
        } catch (const SubmissionFailure& failure) {
            CHECK_THAT(failure.what(), Contains("other results"));
            return false;
        }
        return true;
    };
    CHECK(same(Type::i32, raw<int>({1, 2}), raw<int>({1, 2})));
    CHECK_FALSE(same(Type::i32, raw<int>({1, 2}), raw<int>({1, 3})));
    CHECK_FALSE(same(Type::i32, raw<int>({1, 2}), raw<int>({1})));
    // A thousandth of the largest.
    CHECK(same(Type::f32, raw<float>({1000, 1}), raw<float>({1000, 1.99f})));
    CHECK(same(Type::f32, raw<float>({-1000, 1}), raw<float>({-1000, 1.99f})));
    CHECK_FALSE(same(Type::f32, raw<float>({1000, 1}), raw<float>({1000, 2.01f})));
    CHECK_FALSE(same(Type::f32, raw<float>({2.01f, 1000}), raw<float>({1, 1000})));
    CHECK(same(Type::f64, raw<double>({1000, 1}), raw<double>({1000, 1.99})));
    CHECK_FALSE(same(Type::f64, raw<double>({1000, 1}), raw<double>({1000, 2.01})));
    constexpr float infinity = std::numeric_limits<float>::infinity();
    CHECK(same(Type::f32, raw<float>({infinity, NAN, 1000, 0}), raw<float>({infinity, -NAN, 1000, 1})));
    CHECK_FALSE(same(Type::f32, raw<float>({infinity, 1}), raw<float>({infinity, 2})));
    CHECK_FALSE(same(Type::f32, raw<float>({NAN, 1}), raw<float>({1, 1})));
    CHECK_FALSE(same(Type::f32, raw<float>({1, 1}), raw<float>({NAN, 1})));
    // What is returned as well.
    CallSpec spec{"f", {}, Type::i32};
    auto result = call({}, 9);
    auto timed = call({}, 5);
    timed.result = std::uint64_t{1} << 32;  // not of an int
    CHECK_NOTHROW(check_same_work(spec, result, timed, true, true));
    timed.result = 1;
    CHECK_THROWS_AS(check_same_work(spec, result, timed, true, true), SubmissionFailure);
    timed.result = 0;
    timed.outputs.resize(1);
    CHECK_THROWS_AS(check_same_work(spec, result, timed, true, true), SubmissionFailure);
}

TEST_CASE("one judge at a time holds the timing device's lock") {
    const TemporaryFile file("lock");
    const auto is_free = [&] {
        const int fd = open(file.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        const bool taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
        close(fd);
        return taken;
    };
    {
        const LockedFile lock(file.path);
        CHECK_FALSE(is_free());
    }
    CHECK(is_free());
    {
        const LockedFile none("");
        CHECK(is_free());
    }
    CHECK_THROWS_WITH(LockedFile("/no/such/file"), "the lock of the timing device cannot be held: /no/such/file");
    // Waits for who has it.
    const int fd = open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    bool done = false;
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        done = true;
        close(fd);
    });
    const LockedFile lock(file.path);
    CHECK(done);
    other.join();
}

TEST_CASE("a file of calls has each call's arrays before and after, as far as it returned") {
    const TemporaryFile file("calls");
    const std::vector<int> x{1, 2, 3};
    const CallSpec spec{"f", {{wire::Kind::inout, wire::Type::i32, 0, std::as_bytes(std::span(x)), 3}}};
    RandomStream random(1, "calls");
    const Arena arena(spec, random);
    CallFile calls(file.path), none("");
    { CallFile::Entry(none, "test", arena).returned(1); }
    std::string before(reinterpret_cast<const char*>(arena.bytes().data()), arena.bytes().size()), after = before;
    {
        CallFile::Entry entry(calls, "test", arena);
        CHECK(pwrite(arena.descriptor(), "\x09", 1, 0) == 1);  // as the program does, which has the same memory
        after[0] = 9;
        entry.returned(77);
    }
    { const CallFile::Entry entry(calls, "other", arena); }
    const auto text = file.text();
    wire::CallRecord record;
    std::size_t at = 0;
    const auto take = [&](std::size_t bytes) { return text.substr(std::exchange(at, at + bytes), bytes); };
    const auto next = [&] { std::memcpy(&record, take(sizeof record).data(), sizeof record); };
    REQUIRE(text.size() == 2 * sizeof record + 4 + 5 + 3 * before.size());
    next();
    CHECK((record.result == 77 && record.returned == 1 && record.test_bytes == 4));
    CHECK(std::string(record.call.function) == "f");
    CHECK((take(4) == "test" && take(before.size()) == before && take(after.size()) == after));
    next();
    CHECK((record.result == 0 && record.returned == 0 && record.test_bytes == 5));
    CHECK((take(5) == "other" && take(after.size()) == after));
}

TEST_CASE("accesses go to their file, as far as they fit, and nowhere else") {
    const TemporaryFile file("traces");
    const auto take = [](TraceFile& traces, std::size_t arrays) {
        std::vector<device::LaunchRecord> launches(2);
        launches[0].kernel = "k", launches[0].demangled = "name";
        auto& trace = launches[0].trace.emplace();
        trace.arrays.assign(arrays, {{std::string(4000, 'n'), true, 4, {}}, 0});
        traces.take("test", launches);
        return launches[0].trace.has_value();
    };
    TraceFile none(""), traces(file.path);
    CHECK(take(none, 1));
    CHECK_FALSE(std::filesystem::exists(file.path));
    CHECK_FALSE(take(traces, 3000));
    for (int i = 0; i < 2; ++i) take(traces, 3000);  // 12 MB each, of 32 MiB
    take(traces, 1);
    std::istringstream lines(file.text());
    std::vector<std::size_t> sizes;
    for (std::string line; std::getline(lines, line);) {
        const auto record = nlohmann::json::parse(line);
        CHECK((record["test"] == "test" && record["kernel"] == "k" && record["name"] == "name"));
        CHECK((record["grid"].size() == 3 && record["block"].size() == 3));
        sizes.push_back(record["trace"]["arrays"].size());
    }
    CHECK(sizes == std::vector<std::size_t>{3000, 3000, 1});
}
