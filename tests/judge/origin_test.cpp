// Messages about results that are not the device's. They must also be true for beginners' mistakes.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "judge/arena.hpp"
#include "judge/errors.hpp"
#include "judge/judged.hpp"
#include "judge/origin.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;
using Problem = device::OriginVerdict::Problem;

namespace {

const CallSpec spec{"scale",
                    {{wire::Kind::in, wire::Type::f32, 0, {}, 3}, {wire::Kind::out, wire::Type::f32, 0, {}, 3}},
                    wire::Type::none,
                    {"x", "y"}};

std::vector<std::byte> bytes_of(std::vector<float> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// Of element 2 of y, which is 2.5.
std::string told(Problem problem, bool mapped = false) {
    device::OriginVerdict verdict;
    verdict.problem = problem;
    verdict.argument = 1;
    verdict.element = verdict.elsewhere = 2;
    verdict.bytes = 400;
    verdict.sample = bytes_of({7.25f});
    verdict.mapped = mapped;
    return explain_origin(verdict, spec, {{bytes_of({0.5f, 1.5f, 2.5f})}, {}}, 0);
}

}  // namespace

TEST_CASE("origin's messages name the element, its value and what became of it") {
    CHECK(told(Problem::none).empty());
    CHECK_THAT(told(Problem::no_download),
               Contains("y[2] (2.5) did not come from the device: nothing was copied back"));
    CHECK_THAT(told(Problem::changed), Contains("the device sent 7.25, the function returned 2.5"));
    CHECK_THAT(told(Problem::moved), Contains("y[2] was moved by host code"));
    CHECK_THAT(told(Problem::unexpected_upload), Contains("400 bytes") && Contains("the first of them: 7.25"));
}

TEST_CASE("origin's messages hold for those who copied the wrong array") {
    // Copying from a host array that the device never filled is not computing on the host.
    CHECK_THAT(told(Problem::not_found), Contains("or took it from an array into which nothing was copied"));
    // Who copies the input back.
    CHECK_THAT(told(Problem::written_by_host),
               Contains("y[2] (2.5) came back as host code had sent it") &&
                   Contains("Is the right array copied back, and did the kernel run and write to it?") &&
                   !Contains("computed"));
    CHECK_THAT(told(Problem::written_by_host, true),
               Contains("had written it") && Contains("Does host code read the right array"));
}

TEST_CASE("a CUDA call that failed stands before the origin that it explains") {
    const auto judged = ::judge("correct", "--device-server " WG_FAKE_DEVICE " --device fake:failed_launch");
    INFO(judged.output);
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains("a CUDA call failed: launch: 4096 threads in a block"));
    CHECK_THAT(judged.message(), Contains("did not come from the device"));
    CHECK(judged.message().find("a CUDA call") < judged.message().find("did not come"));
    CHECK_THAT(judged.message(), !Contains("note: launch:"));
}

namespace {

template <class T>
std::vector<std::byte> raw(std::initializer_list<T> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

// The value in parentheses after element 1 of y, which has these bytes.
std::string value_of(wire::Type type, std::vector<std::byte> y, std::uint64_t element = 1) {
    const CallSpec f{"f", {{wire::Kind::out, type, 0, {}, 2}}, wire::Type::none, {"y"}};
    device::OriginVerdict verdict;
    verdict.problem = Problem::no_download;
    verdict.argument = 0, verdict.element = element;
    const auto text = explain_origin(verdict, f, {{std::move(y)}, {}}, 0);
    const auto begin = text.find('(') + 1;
    return text.substr(begin, text.find(')') - begin);
}

}  // namespace

TEST_CASE("origin's messages show a value in its type") {
    using wire::Type;
    CHECK(value_of(Type::boolean, raw<bool>({false, true})) == "1");
    CHECK(value_of(Type::i8, raw<signed char>({1, -5})) == "-5");
    CHECK(value_of(Type::u8, raw<unsigned char>({1, 251})) == "251");
    CHECK(value_of(Type::i16, raw<short>({1, -500})) == "-500");
    CHECK(value_of(Type::u16, raw<unsigned short>({1, 65035})) == "65035");
    CHECK(value_of(Type::i32, raw<int>({1, -70000})) == "-70000");
    CHECK(value_of(Type::u32, raw<unsigned>({1, 4000000000u})) == "4000000000");
    CHECK(value_of(Type::i64, raw<long>({1, -5000000000})) == "-5000000000");
    CHECK(value_of(Type::u64, raw<unsigned long>({1, 0xffffffffffffffff})) == "18446744073709551615");
    CHECK(value_of(Type::f32, raw<float>({1, 0.1f})) == "0.1");
    CHECK(value_of(Type::f64, raw<double>({1, 1.0 / 3})) == "0.3333333333333333");
    // Where there is no such element, or not all of it.
    CHECK(value_of(Type::i16, raw<short>({1, 2}), 2) == "?");
    CHECK(value_of(Type::i16, raw<short>({1, 2}), 3) == "?");
    CHECK(value_of(Type::i32, raw<short>({1, 2, 3}), 1) == "?");
    CHECK(value_of(Type::none, {}) == "?");
}

TEST_CASE("origin's messages find the output among the arguments") {
    const CallSpec f{"f",
                     {{wire::Kind::in, wire::Type::f32, 0, {}, 2},
                      {wire::Kind::out, wire::Type::i16, 0, {}, 2},
                      {wire::Kind::scalar, wire::Type::i32, 3},
                      {wire::Kind::inout, wire::Type::f64, 0, {}, 1},
                      {wire::Kind::out, wire::Type::u8, 0, {}, 2}},
                     wire::Type::f64,
                     {"x", "a", "n", "b"}};
    const Arena::Snapshot after{{raw<short>({7, 8}), raw<double>({2.5}), raw<unsigned char>({9, 10})}, {}};
    const auto told = [&](int argument, std::uint64_t element, const Arena::Snapshot& snapshot) {
        device::OriginVerdict verdict;
        verdict.problem = Problem::scattered;
        verdict.argument = argument, verdict.element = element;
        const auto place = explain_origin(verdict, f, snapshot, std::bit_cast<std::uint64_t>(1.5));
        verdict.problem = Problem::no_download;
        const auto text = explain_origin(verdict, f, snapshot, std::bit_cast<std::uint64_t>(1.5));
        CHECK(place.substr(0, place.find(" was put")) == text.substr(0, text.find(" (")));
        return text.substr(0, text.find(" did not"));
    };
    CHECK(told(1, 1, after) == "a[1] (8)");
    CHECK(told(3, 0, after) == "b[0] (2.5)");
    CHECK(told(4, 1, after) == "argument 5[1] (10)");
    CHECK(told(-1, 0, after) == "the returned value (1.5)");
    CHECK(told(0, 1, after) == "x[1] (?)");  // no output
    CHECK(told(4, 1, {{raw<short>({7, 8}), raw<double>({2.5})}, {}}) == "argument 5[1] (?)");
}

TEST_CASE("origin's messages say how much went up, what was put together and what decides") {
    CallSpec f{"f",
               {{wire::Kind::scalar, wire::Type::f64, 3},
                {wire::Kind::null_pointer, wire::Type::f32},
                {wire::Kind::in, wire::Type::i16, 0, {}, 2}}};
    const auto told = [&](Problem problem, std::uint64_t bytes, std::vector<std::byte> came, bool mapped = false) {
        device::OriginVerdict verdict;
        verdict.problem = problem;
        verdict.bytes = bytes, verdict.sample = std::move(came), verdict.mapped = mapped;
        if (problem != Problem::rearranged) verdict.decision = "the size of a copy";
        verdict.elsewhere = 17;
        return explain_origin(verdict, f, {}, 0);
    };
    CHECK_THAT(told(Problem::unexpected_upload, 4095, {}),
               Contains("the device 4095 bytes that are not the function's inputs. "));
    CHECK_THAT(told(Problem::unexpected_upload, 4096, {}), Contains("the device at least 4096 bytes"));
    CHECK_THAT(told(Problem::unexpected_upload, 8, raw<short>({-3, 5}), true),
               Contains("inputs, through mapped or managed memory; the first of them: -3. Kernels"));
    CHECK_THAT(told(Problem::rearranged, 0, {}), Contains("an array that a kernel reads was put together by copies"));
    CHECK_THAT(told(Problem::rearranged, 0, raw<short>({-4})), Contains("elements of the inputs (-4 is one) to other"));
    CHECK_THAT(told(Problem::value_dependent, 0, {}), Contains("inputs' values: the size of a copy."));
    CHECK_THAT(told(Problem::unknown_code, 123, {}), Contains("123 bytes of device code"));
    CHECK_THAT(told(Problem::overflow, 0, {}), Contains("256 MiB in one direction"));
    CHECK_THAT(told(Problem::moved, 0, {}), Contains("as element 17 of a copy"));
    f.result = wire::Type::f32;
    CHECK_THAT(told(Problem::changed, 0, raw<short>({1})), Contains("the device sent ?"));  // not all of a float
    CHECK_THAT(told(Problem::changed, 0, raw<float>({1.5f})), Contains("the device sent 1.5, "));
    f.arguments.pop_back();
    CHECK_THAT(told(Problem::rearranged, 0, raw<unsigned>({0xffffffff})), Contains("(4294967295 is one)"));
}

namespace {

// A program whose file holds the mark of device code at these places.
struct ProgramFile {
    ProgramFile(const std::string& name, std::size_t size, const std::vector<std::size_t>& places)
        : path((std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))).string()) {
        std::string content(size, 'x');
        for (const std::size_t at : places) content.replace(at, 4, "\x50\xed\x55\xba");
        std::ofstream(path, std::ios::binary) << content;
    }
    ~ProgramFile() { std::filesystem::remove(path); }
    std::string path;
};

// The query as the device server reads it.
struct Asked {
    Asked(const CallSpec& f, const std::string& program, std::uint64_t result = 0)
        : random(1, "asked"), arena(f, random), snapshot(arena.snapshot()) {
        const auto message = ask_origin(f, arena, snapshot, result, program, nullptr);
        request.emplace(nlohmann::json::parse(message.question), device::Descriptor(dup(message.file)),
                        device::Descriptor(dup(message.program)), true);
    }
    [[nodiscard]] const device::OriginQuery& query() const { return request->query(); }
    RandomStream random;
    Arena arena;
    Arena::Snapshot snapshot;
    std::optional<device::OriginRequest> request;
};

}  // namespace

TEST_CASE("the device is asked about each buffer, scalar and returned value as it is") {
    const std::vector<float> x{1, 2, 3};
    const std::vector<double> z{4, 5};
    const ProgramFile program("asked", 64, {});
    CallSpec f{"asked_of",
               {{wire::Kind::scalar, wire::Type::i16, 7},
                {wire::Kind::in, wire::Type::f32, 0, std::as_bytes(std::span(x)), 3},
                {wire::Kind::null_pointer, wire::Type::f32},
                {wire::Kind::out, wire::Type::i16, 0, {}, 5},
                {wire::Kind::scalar, wire::Type::f64, 8},
                {wire::Kind::inout, wire::Type::f64, 0, std::as_bytes(std::span(z)), 2},
                {wire::Kind::scalar, wire::Type::f32, 9}},
               wire::Type::f32};
    const Asked asked(f, program.path, 77);
    const auto& buffers = asked.query().buffers;
    REQUIRE(buffers.size() == 3);
    using Kind = device::OriginBuffer::Kind;
    CHECK((buffers[0].kind == Kind::in && buffers[1].kind == Kind::out && buffers[2].kind == Kind::inout));
    CHECK((buffers[0].argument == 1 && buffers[1].argument == 3 && buffers[2].argument == 5));
    CHECK((buffers[0].element_bytes == 4 && buffers[1].element_bytes == 2 && buffers[2].element_bytes == 8));
    CHECK(std::ranges::equal(buffers[0].before, std::as_bytes(std::span(x))));
    CHECK(buffers[0].after.empty());
    CHECK(std::ranges::equal(buffers[1].before, asked.arena.prefill(3)));
    CHECK(std::ranges::equal(buffers[1].after, asked.snapshot.outputs[0]));
    CHECK(std::ranges::equal(buffers[2].before, std::as_bytes(std::span(z))));
    CHECK(std::ranges::equal(buffers[2].after, asked.snapshot.outputs[1]));
    for (const auto& buffer : buffers) CHECK(buffer.other.empty());
    CallSpec turned = f;
    std::swap(turned.arguments[3], turned.arguments[5]);
    const Asked in_turn(turned, program.path, 77);
    CHECK(std::ranges::equal(in_turn.query().buffers[1].after, std::as_bytes(std::span(z))));
    CHECK(std::ranges::equal(in_turn.query().buffers[2].after, in_turn.snapshot.outputs[1]));
    CHECK(std::ranges::equal(in_turn.query().buffers[2].before, in_turn.arena.prefill(5)));
    const auto& scalars = asked.query().scalars;
    REQUIRE(scalars.size() == 3);
    CHECK((scalars[0].bits == 7 && scalars[0].bytes == 2 && scalars[0].whole));
    CHECK((scalars[1].bits == 8 && scalars[1].bytes == 8 && !scalars[1].whole));
    CHECK((scalars[2].bits == 9 && scalars[2].bytes == 4 && !scalars[2].whole));
    CHECK(asked.query().program.size() == 64);

    using Result = device::OriginQuery::Result;
    const auto query_result = [&](wire::Type type) {
        f.result = type;
        return Asked(f, program.path, 77).query().result;
    };
    const auto floating = query_result(wire::Type::f32), whole = query_result(wire::Type::i64);
    REQUIRE((floating && whole));
    CHECK((floating->type == Result::Type::floating && floating->bytes == 4 && floating->bits == 77));
    CHECK((whole->type == Result::Type::whole && whole->bytes == 8));
    CHECK(query_result(wire::Type::f64)->type == Result::Type::floating);
    CHECK_FALSE(query_result(wire::Type::none));
    judge::detail::declare_host_work("asked_of", HostWork::returned);
    CHECK(host_work("asked_of") == HostWork::returned);
    CHECK_FALSE(query_result(wire::Type::i32));
    judge::detail::declare_host_work("asked_of", HostWork::none);
    CHECK(query_result(wire::Type::i32));
    CHECK(host_work("another") == HostWork::none);
}

TEST_CASE("device code is looked for in a program's file at each eighth byte, at 256 places") {
    const CallSpec f{"f", {}};
    const auto images = [&](const ProgramFile& program) { return Asked(f, program.path).query().program_images; };
    using Places = std::vector<std::uint64_t>;
    CHECK(images(ProgramFile("none", 64, {})).empty());
    CHECK(images(ProgramFile("some", 64, {0, 12, 16, 33, 56})) == Places{0, 16, 56});
    CHECK(images(ProgramFile("cut", 63, {8, 56})) == Places{8});  // no whole word at the end
    CHECK(images(ProgramFile("short", 8, {0})) == Places{0});
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < 257; ++i) all.push_back(8 * i);
    const auto most = images(ProgramFile("many", 8 * 300, all));
    CHECK((most.size() == 256 && most.back() == 8 * 255));
    CHECK(images(ProgramFile("one", 1, {})).empty());
    CHECK_THROWS_WITH(images(ProgramFile("empty", 0, {})), Contains("the program's file cannot be read"));
    CHECK_THROWS_AS(images(ProgramFile("nothing", 0, {})), InfrastructureError);
    CHECK_THROWS_WITH(Asked(f, "/no/such/program"), Contains("the program's file cannot be read"));
}

TEST_CASE("functions may do their work on the host, or decide there, until it is said otherwise") {
    CHECK_FALSE(may_host_decide("decides_itself"));
    CHECK(judge::detail::declare_host_decisions("decides_itself", true));
    CHECK(may_host_decide("decides_itself"));
    CHECK_FALSE(may_host_decide("another"));
    CHECK(judge::detail::declare_host_decisions("decides_itself", false));
    CHECK_FALSE(may_host_decide("decides_itself"));
    CHECK(judge::detail::declare_host_work("does_it_itself", HostWork::all));
    CHECK(host_work("does_it_itself") == HostWork::all);
}
