// The protocol between judge, server and runtime, and the JSON records: every field, and every limit on both sides.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "device/fields.hpp"
#include "device/origin_request.hpp"
#include "device/records.hpp"
#include "device/report.hpp"
#include "judge/catch.hpp"
#include "support/contains.hpp"

using namespace warpgrade::device;
using nlohmann::json;

namespace {

template <class Image>
std::vector<std::byte> sent(const Image& image) {
    wire::Writer writer;
    wire::put(writer, image);
    return {writer.bytes().begin(), writer.bytes().end()};
}

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
    std::vector<std::byte> bytes;
    for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
    return bytes;
}

}  // namespace

TEST_CASE("each property of a device travels") {
    DeviceProperties properties;
    int next = 1;
    for_each_field(properties, [&]<class T>(const char*, T& field) {
        if constexpr (std::is_same_v<T, std::string>)
            field = std::string(static_cast<std::size_t>(next++), 'n');
        else if constexpr (std::is_same_v<T, Dim3>)
            field = {static_cast<std::uint32_t>(next++), static_cast<std::uint32_t>(next++),
                     static_cast<std::uint32_t>(next++)};
        else
            field = static_cast<T>(next++);
    });
    const auto bytes = sent(properties);
    wire::Reader reader(bytes);
    const auto back = wire::get_properties(reader);
    CHECK_NOTHROW(reader.expect_end());
    CHECK(to_json(back) == to_json(properties));
    const auto told = json::parse(describe(properties, "vgpu:h100"));
    CHECK(told["name"] == "n");
    CHECK(told["profile"] == "nn");
    CHECK(told["major"] == 3);
    CHECK(told["max_threads_dim"] == json({20, 21, 22}));
    CHECK(told["kind"] == json{{"name", "vgpu"}, {"repeatable", true}, {"analysed", true}});
    CHECK_FALSE(json::parse(describe(properties, "plain"))["kind"]["analysed"].get<bool>());
    CHECK(to_json(parse_properties(describe(properties, "vgpu"))) == to_json(properties));
    CHECK(parse_properties(R"({"name": "a fake"})").name == "a fake");
    CHECK_THROWS(parse_properties("[1]"));
    CHECK(describe(properties, "vgpu:h100").find('\n') == std::string::npos);
}

TEST_CASE("each fact about a kernel travels, as far as its parameters may be so") {
    FunctionInfo info{"", {{0, 8}, {8, 4}}, 12, 2, 3, 4, 5, 6, 7, 8};
    const auto back = [](const FunctionInfo& of) {
        const auto bytes = sent(of);
        wire::Reader reader(bytes);
        const auto result = wire::get_function_info(reader);
        reader.expect_end();
        return result;
    };
    const auto same = back(info);
    CHECK((same.param_bytes == 12 && same.registers_per_thread == 2 && same.static_shared_bytes == 3));
    CHECK((same.local_bytes_per_thread == 4 && same.constant_bytes == 5 && same.max_threads_per_block == 6));
    CHECK((same.ptx_version == 7 && same.binary_version == 8 && same.params.size() == 2));
    CHECK((same.params[1].offset == 8 && same.params[1].bytes == 4));
    info.params = {{12, 0}};
    CHECK(back(info).params.size() == 1);
    info.params = {{13, 0}};
    CHECK_THROWS_AS(back(info), wire::ProtocolError);
    info.params = {{11, 2}};
    CHECK_THROWS_AS(back(info), wire::ProtocolError);
    info.params = {};
    info.param_bytes = wire::max_parameter_bytes;
    CHECK(back(info).param_bytes == wire::max_parameter_bytes);
    info.param_bytes = wire::max_parameter_bytes + 1;
    CHECK_THROWS_AS(back(info), wire::ProtocolError);
    info.param_bytes = 0;
    info.params.resize(wire::max_parameters);
    CHECK(back(info).params.size() == wire::max_parameters);
    info.params.resize(wire::max_parameters + 1);
    CHECK_THROWS_AS(back(info), wire::ProtocolError);
}

TEST_CASE("an image travels whole, and of kinds that there are") {
    ImageDescriptor image;
    image.use = ImageUse::surface, image.shape = ImageShape::array, image.kind = ChannelKind::floating;
    image.address = 1ull << 40, image.pitch = 512, image.slice_bytes = 4096;
    image.width = 31, image.height = 7, image.depth = 3, image.layered = true;
    image.channels = 4, image.channel_bits = 16;
    image.address_mode = {AddressMode::border, AddressMode::mirror, AddressMode::wrap};
    image.linear_filter = true, image.normalized_coordinates = false, image.normalized_values = true;
    image.border = {1, 2, 3, 4};
    const auto bytes = sent(image);
    wire::Reader reader(bytes);
    const auto back = wire::get_image(reader);
    CHECK_NOTHROW(reader.expect_end());
    CHECK(sent(back) == bytes);
    CHECK((back.use == image.use && back.layered && back.depth == 3 && back.border[3] == 4 && back.normalized_values));
    CHECK(back.texel_bytes() == 8);
    CHECK(back.extent_bytes() == 2 * 4096 + 6 * 512 + 31 * 8);
    image.depth = image.height = 0;
    CHECK((image.rows() == 1 && image.slices() == 1 && image.extent_bytes() == 31 * 8));
    const auto refused = [](auto change) {
        ImageDescriptor wrong;
        change(wrong);
        const auto wrong_bytes = sent(wrong);
        wire::Reader of_wrong(wrong_bytes);
        CHECK_THROWS_AS(wire::get_image(of_wrong), wire::ProtocolError);
    };
    refused([](auto& i) { i.use = ImageUse::count; });
    refused([](auto& i) { i.shape = ImageShape::count; });
    refused([](auto& i) { i.kind = ChannelKind::count; });
    refused([](auto& i) { i.address_mode[2] = AddressMode::count; });
}

TEST_CASE("what is told of a launch, a transfer, an allocation and a finding") {
    LaunchRecord launch;
    launch.kernel = "_Z1kv", launch.demangled = "vecadd";
    launch.config.grid = {1, 2, 3}, launch.config.block = {4, 5, 6};
    launch.config.dynamic_shared_bytes = 7, launch.config.stream = 8, launch.config.cooperative = true;
    launch.static_shared_bytes = 9, launch.registers_per_thread = 10;
    launch.counters.emplace();
    launch.start_ns = 11.5, launch.duration_ns = std::numeric_limits<double>::infinity();
    launch.occupancy = {12, 0.5, 0.25, "registers"};
    launch.part_of_result = false, launch.most_block_instructions = 13;
    launch.costs = {{"divergence", 0.5}};
    launch.error_code = error::illegal_address, launch.error = "past the end";
    auto told = to_json(launch);
    CHECK(told["counters"].size() > 20);
    told.erase("counters");
    CHECK(told == json::parse(R"({"kernel": "_Z1kv", "name": "vecadd", "grid": [1, 2, 3], "block": [4, 5, 6],
        "dynamic_shared_bytes": 7, "stream": 8, "cooperative": true, "static_shared_bytes": 9,
        "registers_per_thread": 10, "start_ns": 11.5, "duration_ns": 0.0, "occupancy": {"theoretical": 0.5,
        "achieved": 0.25, "blocks_per_multiprocessor": 12, "limiter": "registers"}, "part_of_result": false,
        "most_block_instructions": 13, "lines": [], "costs": {"divergence": 0.5}, "error": {"code": )" +
                              std::to_string(error::illegal_address) + R"(, "message": "past the end"}})"));
    using Kind = TransferRecord::Kind;
    CHECK(to_json(std::vector<TransferRecord>{{Kind::to_device, 1, 2, {3, 5}},
                                              {Kind::to_host, 0, 0, {}},
                                              {Kind::within_device, 0, 0, {}},
                                              {Kind::fill, 0, 0, {}}}) == json::parse(R"([
        {"kind": "to_device", "stream": 1, "bytes": 2, "start_ns": 3.0, "duration_ns": 2.0},
        {"kind": "to_host", "stream": 0, "bytes": 0, "start_ns": 0.0, "duration_ns": 0.0},
        {"kind": "within_device", "stream": 0, "bytes": 0, "start_ns": 0.0, "duration_ns": 0.0},
        {"kind": "fill", "stream": 0, "bytes": 0, "start_ns": 0.0, "duration_ns": 0.0}])"));
    CHECK(to_json(std::vector<AllocationRecord>{{"cudaMalloc", 4}}) ==
          json::parse(R"([{"call": "cudaMalloc", "bytes": 4}])"));
    Diagnostic found;
    found.rule = &rules::race_shared;
    found.message = "m", found.kernel = "k", found.place = {"a.cu", 1, 2};
    found.related = {{"written by", {"b.cu", 3, 4}, ThreadPlace{{5, 6, 7}, {8, 9, 10}}}};
    found.memory = MemoryPlace{"tile", true, 11, {"c.cu", 12, 13}};
    found.count = 14, found.weight = 0.5;
    auto finding = to_json(std::vector{found})[0];
    CHECK((finding["title"].is_string() && finding["help"].is_string()));
    finding.erase("title"), finding.erase("help");
    CHECK(finding == json::parse(R"({"rule": "racecheck/shared", "severity": "error", "message": "m", "kernel": "k",
        "place": {"file": "a.cu", "line": 1, "code": 2}, "thread": null, "related": [{"role": "written by",
        "place": {"file": "b.cu", "line": 3, "code": 4}, "thread": {"thread": [5, 6, 7], "block": [8, 9, 10]}}],
        "memory": {"name": "tile", "variable": true, "bytes": 11, "allocated": {"file": "c.cu", "line": 12,
        "code": 13}}, "count": 14, "weight": 0.5})"));
    found.rule = &rules::leak;
    CHECK(to_json(std::vector{found})[0]["severity"] == "warning");
    found.rule = &rules::uncoalesced;
    CHECK(to_json(std::vector{found})[0]["severity"] == "advice");
}

TEST_CASE("a report is told with its last error, and the origin's answer with all that it says") {
    Report report;
    CHECK(to_json(report)["last_error"] == nullptr);
    CHECK(to_json(report)["internal_error"] == nullptr);
    CHECK_FALSE(to_json(report).contains("origin"));
    report.call_errors = {{"cudaFree", 1, "what"}};
    report.last_error = {"cudaFree", 2, "why"};
    report.internal_error = "broken";
    OriginVerdict verdict;
    verdict.problem = OriginVerdict::Problem::moved;
    verdict.argument = 1, verdict.element = 2, verdict.elsewhere = 3, verdict.bytes = 4, verdict.changes = 5;
    verdict.sample = bytes_of({6, 255});
    verdict.mapped = true, verdict.decision = "d", verdict.not_part = {7};
    report.origin = verdict;
    const auto told = to_json(report);
    CHECK(told["ok"] == true);
    CHECK(told["call_errors"] == json::parse(R"([{"operation": "cudaFree", "code": 1, "message": "what"}])"));
    CHECK(told["last_error"] == json::parse(R"({"code": 2, "message": "why"})"));
    CHECK(told["internal_error"] == "broken");
    CHECK(told["origin"] == json::parse(R"({"problem": 4, "argument": 1, "element": 2, "elsewhere": 3, "bytes": 4,
        "came": [6, 255], "mapped": true, "decision": "d",
        "compared": false, "needs_kernels": false, "changes": 5, "not_part": [7]})"));
}

TEST_CASE("the question after the origin arrives as it was asked") {
    const auto a = bytes_of({1, 2, 3}), b = bytes_of({4}), other = bytes_of({5, 6, 7});
    std::vector<std::byte> long_one(100'000, std::byte{8});
    OriginFile memory;
    for (const bool has_result : {false, true}) {
        OriginQuery query;
        query.buffers = {{OriginBuffer::Kind::in, 0, 4, a, {}, other},
                         {OriginBuffer::Kind::inout, 2, 8, b, long_one, {}, other}};
        query.scalars = {{7, 4, true}, {9, 8, false}};
        query.program_images = {64, 128};
        if (has_result) query.result = {OriginQuery::Result::Type::floating, 8, 77, 88};
        const auto message = make_origin_message(query, memory);
        CHECK(message.file == memory.descriptor().get());
        const OriginRequest request(json::parse(message.question), memory.descriptor(), {}, false);
        const auto& got = request.query();
        REQUIRE(got.buffers.size() == 2);
        const auto& [kind, argument, element, before, after, in_other, other_after] = got.buffers[0];
        CHECK(
            (kind == OriginBuffer::Kind::in && argument == 0 && element == 4 && after.empty() && other_after.empty()));
        CHECK((std::ranges::equal(before, a) && std::ranges::equal(in_other, other)));
        CHECK((got.buffers[1].kind == OriginBuffer::Kind::inout && got.buffers[1].argument == 2));
        CHECK((got.buffers[1].element_bytes == 8 && std::ranges::equal(got.buffers[1].before, b)));
        CHECK(std::ranges::equal(got.buffers[1].after, long_one));
        CHECK(std::ranges::equal(got.buffers[1].other_after, other));
        REQUIRE(got.scalars.size() == 2);
        CHECK((got.scalars[0].bits == 7 && got.scalars[0].bytes == 4 && got.scalars[0].whole));
        CHECK((got.scalars[1].bits == 9 && got.scalars[1].bytes == 8 && !got.scalars[1].whole));
        CHECK(got.program_images == query.program_images);
        CHECK(got.result.has_value() == has_result);
        if (has_result)
            CHECK((got.result->type == OriginQuery::Result::Type::floating && got.result->bytes == 8 &&
                   got.result->bits == 77 && got.result->other_bits == 88));
        CHECK(got.program.empty());
    }
}

TEST_CASE("what a question after the origin maps is let go, and its parts lie side by side") {
    const auto mapped = [] {
        std::ifstream maps("/proc/self/maps");
        std::size_t count = 0;
        for (std::string line; std::getline(maps, line);) count += line.find("memfd:origin") != std::string::npos;
        return count;
    };
    const auto before = mapped();
    {
        OriginFile memory;
        memory.reserve(1);
        memory.reserve(100'000);
        CHECK(mapped() == before + 1);
        std::vector<std::vector<std::byte>> all;
        OriginQuery query;
        for (const std::size_t size : {65, 64, 1, 129, 63}) {
            all.emplace_back(size, static_cast<std::byte>(size));
            query.buffers.push_back({OriginBuffer::Kind::in, 0, 4, all.back(), {}, {}});
        }
        for (std::size_t i = 0; i < all.size(); ++i) query.buffers[i].before = all[i];
        const auto message = make_origin_message(query, memory);
        const OriginRequest request(json::parse(message.question), memory.descriptor(), {}, false);
        CHECK(mapped() == before + 2);
        for (std::size_t i = 0; i < all.size(); ++i)
            CHECK(std::ranges::equal(request.query().buffers[i].before, all[i]));
        // More than any machine has, or can name.
        CHECK_THROWS_WITH(memory.reserve(std::size_t{1} << 62), Contains("cannot map the origin"));
        CHECK_THROWS_WITH(memory.reserve(std::size_t{3} << 61), Contains("cannot allocate memory"));
    }
    CHECK(mapped() == before);
}

TEST_CASE("a question after the origin needs its file, and the program's where it is asked for") {
    OriginFile memory;
    const auto message = make_origin_message({}, memory);
    CHECK((OriginMessage{}.file == -1 && message.program == -1));
    const auto ask = [&](const Descriptor& file, const Descriptor& program, bool wants_program) {
        return OriginRequest(json::parse(message.question), file, program, wants_program).query().program.size();
    };
    const Descriptor empty(memfd_create("empty", 0)), program(memfd_create("program", 0)), closed(9999);
    REQUIRE(ftruncate(program.get(), 1) == 0);
    CHECK(ask(memory.descriptor(), program, true) == 1);
    CHECK(ask(memory.descriptor(), program, false) == 0);
    for (const Descriptor* missing : {&empty, &closed}) {
        CHECK_THROWS_WITH(ask(*missing, program, true), "its file is missing");
        CHECK_THROWS_WITH(ask(memory.descriptor(), *missing, true), "the program's file is missing");
        CHECK_NOTHROW(ask(memory.descriptor(), *missing, false));
    }
    CHECK_THROWS_WITH(ask({}, program, true), "its file is missing");
}

TEST_CASE("a question after the origin is bounded by its files") {
    OriginFile memory;
    const std::size_t size = [&] {
        memory.reserve(1);
        struct stat status {};
        fstat(memory.descriptor().get(), &status);
        return static_cast<std::size_t>(status.st_size);
    }();
    CHECK(size == 64 << 10);
    const auto ask = [&](std::size_t at, std::size_t bytes, unsigned kind = 0, unsigned element = 4,
                         unsigned scalar = 4) {
        const json question = {{"buffers",
                                {{{"kind", kind},
                                  {"argument", 0},
                                  {"element_bytes", element},
                                  {"before", {at, bytes}},
                                  {"after", {0, 0}},
                                  {"other", {0, 0}},
                                  {"other_after", {0, 0}}}}},
                               {"scalars", {{1, scalar, true}}},
                               {"program_images", json::array()}};
        const OriginRequest request(question, memory.descriptor(), {}, false);
        return std::pair(request.query().buffers[0].element_bytes, request.query().scalars[0].bytes);
    };
    CHECK_NOTHROW(ask(0, size));
    CHECK_NOTHROW(ask(size, 0));
    CHECK_THROWS(ask(0, size + 1));
    CHECK_THROWS(ask(1, size));
    CHECK_THROWS(ask(size + 1, 0));
    CHECK_THROWS(ask(size, SIZE_MAX));
    CHECK_NOTHROW(ask(0, 1, 2));
    CHECK_THROWS(ask(0, 1, 3));
    CHECK(ask(0, 1, 0, 0).first == 1);
    CHECK(ask(0, 1, 0, 4, 8).second == 8);
    CHECK(ask(0, 1, 0, 4, 9).second == 8);
    // What was reserved stays, and grows.
    std::byte* const first = memory.reserve(size);
    CHECK(memory.reserve(size - 1) == first);
    memory.reserve(size + 1)[2 * size - 1] = std::byte{1};
    CHECK_NOTHROW(ask(0, 2 * size));
    CHECK_THROWS(ask(0, 2 * size + 1));
}
