#include "device/records.hpp"

#include "judge/catch.hpp"
#include "server/journal.hpp"

using namespace warpgrade::device;

namespace {

LaunchRecord sample() {
    LaunchRecord record;
    record.kernel = "_Z6vecaddPf";
    record.demangled = "vecadd";
    record.config.grid = {4, 2, 1};
    record.config.block = {256, 1, 1};
    record.config.dynamic_shared_bytes = 1024;
    record.registers_per_thread = 40;
    record.counters.inst_executed = 123456789012345;
    record.occupancy = {8, 0.75, 0.25, "registers"};
    record.start_ns = 1.5;
    record.duration_ns = 1000.25;
    record.lines.push_back({"vecadd.cu", 7, {}});
    record.lines.back().counters.global_load_sectors = 9;
    return record;
}

}  // namespace

TEST_CASE("a launch record survives JSON") {
    const LaunchRecord record = sample();
    const auto text = to_json(record).dump();
    const LaunchRecord back = launch_record_from_json(nlohmann::json::parse(text));
    CHECK(back.demangled == "vecadd");
    CHECK(back.config.grid.y == 2);
    CHECK(back.config.dynamic_shared_bytes == 1024);
    CHECK(back.counters == record.counters);
    CHECK(back.occupancy.limiter == "registers");
    CHECK(back.duration_ns == 1000.25);
    CHECK(back.lines.at(0).counters == record.lines.at(0).counters);
    CHECK(back.error_code == 0);
    CHECK(to_json(back) == to_json(record));
    CHECK(to_json(record).at("lines").at(0).at("counters").size() == 1);  // zeros are left out
}

TEST_CASE("a launch record survives its compact form, which is much shorter") {
    const LaunchRecord record = sample();
    const auto compact = to_compact_json(record);
    CHECK(to_json(launch_record_from_json(nlohmann::json::parse(compact.dump()))) == to_json(record));
    CHECK(2 * compact.dump().size() < to_json(record).dump().size());
    const auto broken = [&](auto&& change) {
        auto json = compact;
        change(json);
        CHECK_THROWS_AS(launch_record_from_json(json), RecordError);
    };
    broken([](auto& j) { j["counters"].push_back(1); });    // no pair
    broken([](auto& j) { j["counters"] = {100'000, 1}; });  // no such row
    broken([](auto& j) { j["counters"] = {-1, 1}; });       //
    broken([](auto& j) { j["counters"] = {0, "many"}; });   //
    broken([](auto& j) { j["lines"][0].push_back(1); });    // four parts
    broken([](auto& j) { j["lines"][0][0] = 1; });          // no file
    broken([](auto& j) { j["lines"][0][2] = {"inst_executed", 1}; });
}

TEST_CASE("a long name is cut, so that the record can be read") {
    LaunchRecord record = sample();
    record.kernel = record.demangled = record.error = record.lines.at(0).file = std::string(3 << 20, 'x');
    record.error_code = 700;
    const LaunchRecord back = launch_record_from_json(to_json(record));
    for (const std::string& text : {back.kernel, back.demangled, back.error, back.lines.at(0).file})
        CHECK(text.size() < 5000);
}

TEST_CASE("a failed launch keeps its error") {
    LaunchRecord record = sample();
    record.error_code = error::illegal_address;
    record.error = "4 bytes past d";
    const auto back = launch_record_from_json(to_json(record));
    CHECK(back.error_code == error::illegal_address);
    CHECK(back.error == "4 bytes past d");
}

TEST_CASE("records with hostile content are refused, never half read") {
    const auto broken = [](auto&& change) {
        auto json = to_json(sample());
        change(json);
        CHECK_THROWS_AS(launch_record_from_json(json), RecordError);
    };
    broken([](auto& j) { j = nlohmann::json::array(); });
    broken([](auto& j) { j.erase("kernel"); });
    broken([](auto& j) { j["kernel"] = 7; });
    broken([](auto& j) { j["grid"] = {1, 2}; });
    broken([](auto& j) { j["grid"] = {1, 2, -3}; });
    broken([](auto& j) { j["grid"] = {1, 2, 4294967296}; });
    broken([](auto& j) { j["registers_per_thread"] = 1.5; });
    broken([](auto& j) { j["duration_ns"] = -1; });
    broken([](auto& j) { j["duration_ns"] = "fast"; });
    broken([](auto& j) { j["counters"]["inst_executed"] = -1; });
    broken([](auto& j) { j["counters"]["made_up"] = 1; });
    broken([](auto& j) { j["lines"] = "none"; });
    broken([](auto& j) { j["lines"][0].erase("line"); });
    broken([](auto& j) { j["error"] = {{"code", 0}, {"message", "fine"}}; });
    broken([](auto& j) { j["cooperative"] = 1; });
    broken([](auto& j) { j["occupancy"] = nullptr; });
}

TEST_CASE("transfers, allocations and waits survive JSON, and are refused when they are none") {
    const std::vector<TransferRecord> transfers{{TransferRecord::Kind::to_host, 3, 4096, {1.5, 4.0}},
                                                {TransferRecord::Kind::fill, 0, 8, {4.0, 4.5}}};
    const auto back = transfers_from_json(to_json(transfers));
    REQUIRE(back.size() == 2);
    CHECK(back[0].kind == TransferRecord::Kind::to_host);
    CHECK(back[0].stream == 3);
    CHECK(back[0].when.end_ns == 4.0);
    CHECK(to_json(back) == to_json(transfers));

    const std::vector<AllocationRecord> allocations{{"cudaMalloc", 400}, {"cudaHostAlloc", 4}};
    CHECK(to_json(allocations_from_json(to_json(allocations))) == to_json(allocations));
    CHECK(waits_from_json({1.0, 2.5}) == std::vector<double>{1.0, 2.5});

    auto broken = to_json(transfers);
    broken[0]["kind"] = "sideways";
    CHECK_THROWS_AS(transfers_from_json(broken), RecordError);
    broken = to_json(transfers);
    broken[1]["duration_ns"] = -1;
    CHECK_THROWS_AS(transfers_from_json(broken), RecordError);
    CHECK_THROWS_AS(transfers_from_json({{"kind", "fill"}}), RecordError);
    CHECK_THROWS_AS(allocations_from_json(nlohmann::json::array({{{"call", 7}, {"bytes", 1}}})), RecordError);
    CHECK_THROWS_AS(waits_from_json(nlohmann::json::array({"soon"})), RecordError);
}

TEST_CASE("diagnostics survive JSON, and are refused when they are none") {
    Diagnostic d;
    d.rule = &rules::race_shared;
    d.message = "reads what another thread writes";
    d.kernel = "reverse";
    d.place = {"reverse.cu", 12, 0};
    d.thread = ThreadPlace{{3, 0, 0}, {7, 1, 0}};
    d.related = {{"written by", {"reverse.cu", 11, 0}, ThreadPlace{{60, 0, 0}, {7, 1, 0}}},
                 {"launched", {"", 0, 0x1234}, std::nullopt}};
    d.memory = MemoryPlace{"tile", true, 256, {}};
    d.count = 64;
    const auto json = to_json(std::vector{d});
    CHECK(json[0].at("title") == "race in shared memory");
    CHECK(json[0].at("severity") == "error");
    const auto back = diagnostics_from_json(json);
    REQUIRE(back.size() == 1);
    CHECK(back[0].rule == d.rule);
    CHECK(back[0].related[1].place.code == 0x1234);
    CHECK(back[0].thread == d.thread);
    CHECK(to_json(back) == json);
    const auto broken = [&](auto&& change) {
        auto changed = json;
        change(changed[0]);
        CHECK_THROWS_AS(diagnostics_from_json(changed), RecordError);
    };
    broken([](auto& j) { j["rule"] = "made/up"; });
    broken([](auto& j) { j.erase("message"); });
    broken([](auto& j) { j["place"]["line"] = -1; });
    broken([](auto& j) { j["thread"]["block"] = {1, 2}; });
    broken([](auto& j) { j["related"] = 5; });
    broken([](auto& j) { j["memory"]["bytes"] = "many"; });
    broken([](auto& j) { j["count"] = 0.5; });
}

TEST_CASE("a journal counts the same mistake at the same place") {
    Journal journal;
    Diagnostic d;
    d.rule = &rules::race_shared;
    d.place = {"reverse.cu", 12, 0};
    journal.add(d);
    journal.add(d);
    d.place.line = 13;
    journal.add(d);
    d.rule = &rules::leak;
    d.place = {};  // places unknown: perhaps two
    journal.add(d);
    journal.add(d);
    const auto taken = journal.take(0).at("diagnostics");
    REQUIRE(taken.size() == 4);
    CHECK(taken[0].at("count") == 2);
    CHECK(journal.take(0).at("diagnostics").empty());
}

TEST_CASE("device properties survive JSON") {
    DeviceProperties properties;
    properties.name = "GPU";
    properties.major = 9;
    properties.max_threads_dim = {1024, 1024, 64};
    properties.clock_ghz = 1.98;
    const auto back = properties_from_json(to_json(properties));
    CHECK(back.name == "GPU");
    CHECK(back.major == 9);
    CHECK(back.max_threads_dim.z == 64);
    CHECK(back.clock_ghz == 1.98);
    auto json = to_json(properties);
    json["warp_size"] = -32;
    CHECK_THROWS_AS(properties_from_json(json), RecordError);
}

TEST_CASE("names that are not UTF-8 do not break a reply") {
    LaunchRecord record = sample();
    record.kernel = "\xff\xfe";
    CHECK_NOTHROW(launch_record_from_json(nlohmann::json::parse(dump_line(to_json(record)))));
}

TEST_CASE("a journal says which of its lists are not complete") {
    Journal journal;
    CHECK(journal.take(0).at("truncated").empty());
    for (std::size_t i = 0; i < RecordLimits::max_allocations; ++i) journal.add_allocation("cudaMalloc", 4);
    journal.print(std::string(RecordLimits::max_output_bytes, 'x'));
    CHECK(journal.take(0).at("truncated").empty());
    for (std::size_t i = 0; i <= RecordLimits::max_allocations; ++i) journal.add_allocation("cudaMalloc", 4);
    journal.print(std::string(RecordLimits::max_output_bytes, 'x'));
    journal.print("y");
    CHECK(journal.take(0).at("truncated") == nlohmann::json{"allocations", "output"});
    CHECK(journal.take(0).at("truncated").empty());
}

TEST_CASE("names and texts of what students compile do not fill the journal") {
    Journal journal;
    const std::string long_name(64 << 10, 'n');
    for (std::size_t i = 0; i < 1000; ++i) {
        LaunchRecord record;
        record.kernel = record.demangled = long_name;
        record.lines.assign(20, LineCounters{long_name, 1, {}});
        journal.add_launch(std::move(record));
        Diagnostic found;
        found.rule = &rules::race_shared;
        found.message = found.kernel = found.place.file = long_name;
        found.place.line = static_cast<std::uint32_t>(i);
        found.related.push_back({"written by", {long_name, 1, 0}, {}});
        journal.add(std::move(found));
    }
    const auto reply = journal.take(0);
    CHECK(reply.at("launches").size() == 1000);
    CHECK(reply.at("truncated").empty());
    CHECK(dump_line(reply).size() < 40'000'000);
}

TEST_CASE("lines of launches are bounded in bytes") {
    Journal journal;
    for (std::size_t i = 0; i < 400; ++i) {
        LaunchRecord record;
        record.lines.assign(500, LineCounters{std::string(500, 'n'), 1, {}});
        journal.add_launch(std::move(record));
    }
    const auto reply = journal.take(0);
    CHECK(reply.at("truncated") == nlohmann::json{"lines"});
    CHECK(reply.at("launches").front().at("lines").size() == 500);
    CHECK(reply.at("launches").back().at("lines").empty());
    CHECK(dump_line(reply).size() < RecordLimits::max_line_bytes * 2);
}
