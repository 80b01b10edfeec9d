// Limits of the protocol and the records: regions, texts and lists of limited length, kinds of memory, addresses, the
// link's cost, and which findings a full list keeps.
#include <sys/resource.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "device/address_space.hpp"
#include "device/checks.hpp"
#include "device/diagnostic.hpp"
#include "device/memory_kind.hpp"
#include "device/origin_request.hpp"
#include "device/packing.hpp"
#include "device/protocol.hpp"
#include "judge/catch.hpp"
#include "server/journal.hpp"
#include "vgpu/model/host_costs.hpp"

using namespace warpgrade::server;
using wire::Reader;
using wire::Region;
using wire::Writer;

TEST_CASE("words choose the checks") {
    const auto chosen = [](const char* words) {
        const Checks c = parse_checks(words);
        return std::array{c.race, c.init, c.sync, c.advice};
    };
    using Four = std::array<bool, 4>;
    CHECK(chosen("all") == Four{true, true, true, true});
    CHECK(chosen("none") == Four{});
    CHECK(chosen("") == Four{});
    CHECK(chosen("race") == Four{true, false, false, false});
    CHECK(chosen("advice,init") == Four{false, true, false, true});
    CHECK(chosen("sync,race,init") == Four{true, true, true, false});
    CHECK(chosen("race,") == Four{true, false, false, false});
    for (const char* wrong : {"rac", "race,,init", ",race", "race, init", "all,race", "Race"})
        CHECK_THROWS_AS(parse_checks(wrong), std::invalid_argument);
}

TEST_CASE("rules are found by their whole names") {
    CHECK(find_rule("racecheck/shared") == &rules::race_shared);
    CHECK(find_rule("memcheck/leak") == &rules::leak);
    CHECK(find_rule("racecheck") == nullptr);
    CHECK(find_rule("") == nullptr);
}

TEST_CASE("memory is of the kind that its call gives, and freed by that kind's call") {
    struct Row {
        const char *call, *freed;
        MemoryKind kind;
    };
    for (const Row& row : {Row{"cudaMalloc", "cudaFree", MemoryKind::device},
                           {"cudaMallocPitch", "cudaFree", MemoryKind::device},
                           {"cudaMallocAsync", "cudaFree", MemoryKind::device},
                           {"cudaMallocArray", "cudaFreeArray", MemoryKind::array},
                           {"cudaMallocManaged", "cudaFree", MemoryKind::managed},
                           {"cudaHostAlloc", "cudaFreeHost", MemoryKind::page_locked},
                           {"cudaHostRegister", "cudaHostUnregister", MemoryKind::registered},
                           {"malloc in a kernel", "free() in a kernel", MemoryKind::heap}}) {
        CHECK(memory_kind_of(row.call) == row.kind);
        CHECK(free_function(row.kind) == row.freed);
    }
    CHECK(free_function(MemoryKind::managed_variable).empty());
}

TEST_CASE("an address says which memory it is of") {
    using namespace address_space;
    CHECK_FALSE(is_device_address(shared_base - 1));
    CHECK(is_device_address(shared_base));
    CHECK(is_device_address(global_end - 1));
    CHECK_FALSE(is_device_address(global_end));
    CHECK(is_global(shared_base - 1));
    CHECK_FALSE(is_global(shared_base));
    CHECK_FALSE(is_global(param_base + window - 1));
    CHECK(is_global(param_base + window));
}

TEST_CASE("links are as fast as their generation, and the host's memory bounds what is not page-locked") {
    struct Row {
        int major;
        double pinned, pageable, migration, read;
    };
    for (const Row& row : {Row{12, 55, 16, 9, 50},
                           {9, 55, 16, 9, 50},
                           {8, 25, 15, 9, 50 * 25 / 55.0},
                           {7, 12.5, 7.5, 9, 50 * 12.5 / 55},
                           {6, 6, 3.6, 6, 50 * 6 / 55.0}}) {
        DeviceProperties properties;
        properties.major = row.major;
        properties.dram_bytes_per_ns = 320;
        const auto costs = warpgrade::vgpu::HostCosts::of(properties);
        CAPTURE(row.major);
        CHECK(costs.pinned_bytes_per_ns == row.pinned);
        CHECK(std::abs(costs.pageable_bytes_per_ns - row.pageable) < 1e-9);
        CHECK(costs.migration_bytes_per_ns == row.migration);
        CHECK(std::abs(costs.mapped_read_bytes_per_ns - row.read) < 1e-9);
        CHECK(std::abs(costs.mapped_write_bytes_per_ns - row.read * 52 / 50) < 1e-9);
        CHECK(costs.device_bytes_per_ns == 320);
    }
    CHECK(warpgrade::vgpu::HostCosts::of({}).device_bytes_per_ns == warpgrade::vgpu::HostCosts().device_bytes_per_ns);
}

TEST_CASE("a region's rows are visited in order, from any place to any other") {
    using Part = std::array<std::uint64_t, 3>;
    const auto parts = [](const Region& region, std::uint64_t offset, std::uint64_t bytes) {
        std::vector<Part> visited;
        region.for_each_part(offset, bytes, [&](std::uint64_t address, std::uint64_t done, std::uint64_t part) {
            visited.push_back({address, done, part});
        });
        return visited;
    };
    const Region rows{1000, 16, 4, 3};
    CHECK(parts(rows, 0, 12) == std::vector<Part>{{1000, 0, 4}, {1016, 4, 4}, {1032, 8, 4}});
    CHECK(parts(rows, 3, 6) == std::vector<Part>{{1003, 0, 1}, {1016, 1, 4}, {1032, 5, 1}});
    CHECK(parts(rows, 4, 4) == std::vector<Part>{{1016, 0, 4}});
    CHECK(parts(rows, 0, 0).empty());
    CHECK(parts(Region{1000, 4, 4, 3}, 3, 6) == std::vector<Part>{{1003, 0, 6}});
    CHECK(parts(Region{1000, 99, 40, 1}, 3, 6) == std::vector<Part>{{1003, 0, 6}});
    CHECK(Region{0, 4, 4, 3}.contiguous());
    CHECK(Region{0, 5, 4, 1}.contiguous());
    CHECK_FALSE(Region{0, 5, 4, 3}.contiguous());
    CHECK(Region{0, 16, 4, 3}.bytes() == 12);
    Writer writer;
    rows.put(writer);
    wire::Transfer{7, false, 123, 456}.put(writer);
    Reader reader(writer.bytes());
    const Region back = Region::get(reader);
    CHECK((back.address == 1000 && back.pitch == 16 && back.width == 4 && back.height == 3));
    const auto transfer = wire::Transfer::get(reader);
    CHECK((transfer.stream == 7 && !transfer.blocking && transfer.host == 123 && transfer.host_pitch == 456));
    reader.expect_end();
}

TEST_CASE("texts are cut where they are written, and refused where they are read") {
    Writer writer;
    writer.put_string("abcdef", 4).put_string("xy", 2);
    Reader reader(writer.bytes());
    CHECK(reader.get_string(4) == "abcd");
    CHECK_THROWS_AS(reader.get_string(1), wire::ProtocolError);
    CHECK(wire::is_postable(wire::Op::write));
    CHECK(wire::is_postable(wire::Op::free_memory));
    CHECK_FALSE(wire::is_postable(wire::Op::read));
    CHECK_FALSE(wire::is_postable(wire::Op::launch));
}

TEST_CASE("a packed list, choice, time or truth may be what it may be at most") {
    const auto list_of = [](std::size_t count, std::size_t limit) {
        Packer packer;
        packer.list(std::vector<double>(count, 1.5), limit);
        const std::string bytes = packer.take();
        Unpacker unpacker(bytes);
        std::vector<double> items;
        unpacker.list(items, limit);
        unpacker.expect_end();
        return items.size();
    };
    CHECK(list_of(5, 5) == 5);
    CHECK_THROWS_AS(list_of(6, 5), RecordError);
    constexpr std::size_t most = Unpacker::max_items;
    CHECK(list_of(most, most + 1) == most);
    CHECK_THROWS_AS(list_of(most + 1, most + 1), RecordError);
    enum class Two { a, b, c };
    for (const Two value : {Two::a, Two::b, Two::c}) {
        const char byte = static_cast<char>(value);
        Unpacker unpacker({&byte, 1});
        Two back{};
        if (value == Two::c)
            CHECK_THROWS_AS(unpacker.enumerator(back, Two::b), RecordError);
        else
            CHECK_NOTHROW(unpacker.enumerator(back, Two::b));
    }
    const auto time = [](double value) {
        Unpacker unpacker({reinterpret_cast<const char*>(&value), sizeof value});
        double back = -1;
        unpacker.time(back);
        return back;
    };
    CHECK(time(0) == 0);
    for (const std::size_t size : {Unpacker::max_text_bytes, Unpacker::max_text_bytes + 1}) {
        Packer packer;
        packer.output(std::string(size, 'x'));
        const std::string bytes = packer.take();
        Unpacker unpacker(bytes);
        std::string text;
        if (size > Unpacker::max_text_bytes)
            CHECK_THROWS_AS(unpacker(text), RecordError);
        else
            CHECK_NOTHROW(unpacker(text));
    }
    CHECK_THROWS_AS(time(-1e-300), RecordError);
    CHECK_THROWS_AS(time(std::numeric_limits<double>::infinity()), RecordError);
    for (const char byte : {0, 1, 2}) {
        Unpacker unpacker({&byte, 1});
        bool truth = false;
        if (byte > 1) {
            CHECK_THROWS_AS(unpacker(truth), RecordError);
        } else {
            unpacker(truth);
            CHECK(truth == (byte == 1));
        }
    }
}

namespace {

Diagnostic found(const Rule& rule, std::uint32_t line) {
    Diagnostic d;
    d.rule = &rule;
    d.place = {"a.cu", line, 0};
    d.weight = 2;
    return d;
}

}  // namespace

TEST_CASE("findings are the same by rule, place, kernel and the other party") {
    std::vector<Diagnostic> known;
    const auto add = [&](Diagnostic one) { return add_finding(known, std::move(one), 100); };
    CHECK(add(found(rules::race_shared, 1)));
    CHECK(add(found(rules::race_shared, 1)));
    REQUIRE(known.size() == 1);
    CHECK((known[0].count == 2 && known[0].weight == 4));
    Diagnostic other = found(rules::race_shared, 1);
    other.kernel = "k";
    CHECK(add(other));
    other.related.push_back({"written by", {"a.cu", 2, 0}, {}});
    CHECK(add(other));
    other.related[0].place.line = 3;
    CHECK(add(other));
    CHECK(add(found(rules::race_global, 1)));
    CHECK(known.size() == 5);
}

TEST_CASE("where not all findings can stay, the worse ones do, and one of each kind") {
    std::vector<Diagnostic> known;
    const auto add = [&](const Rule& rule, std::uint32_t line) { return add_finding(known, found(rule, line), 3); };
    const auto lines = [&] {
        std::vector<std::uint32_t> all;
        for (const auto& one : known) all.push_back(one.place.line);
        return all;
    };
    const Rule &error = rules::race_shared, &advice = rules::uncoalesced;
    CHECK((add(advice, 1) && add(error, 2) && add(error, 3)));
    CHECK_FALSE(add(advice, 4));  // it is not worse than any
    CHECK(lines() == std::vector<std::uint32_t>{1, 2, 3});
    CHECK_FALSE(add(error, 5));  // in the place of the advice
    CHECK(lines() == std::vector<std::uint32_t>{2, 3, 5});
    CHECK_FALSE(add(error, 6));  // of that kind there are some
    CHECK(lines() == std::vector<std::uint32_t>{2, 3, 5});
    CHECK_FALSE(add(rules::race_global, 7));  // in the place of the last one of the other kind
    CHECK(lines() == std::vector<std::uint32_t>{2, 3, 7});
    CHECK_FALSE(add(rules::race_global, 8));
    CHECK_FALSE(add(rules::null_pointer, 9));
    CHECK(lines() == std::vector<std::uint32_t>{2, 7, 9});
    CHECK_FALSE(add(rules::race_warp, 10));  // each of them is the only one of its kind
    CHECK(lines() == std::vector<std::uint32_t>{2, 7, 9});
}

TEST_CASE("for a milder finding no worse one goes") {
    std::vector<Diagnostic> known;
    const auto add = [&](const Rule& rule, std::uint32_t line) { return add_finding(known, found(rule, line), 3); };
    CHECK((add(rules::race_shared, 1) && add(rules::race_shared, 2) && add(rules::uncoalesced, 3)));
    CHECK_FALSE(add(rules::bank_conflicts, 4));
    REQUIRE(known.size() == 3);
    CHECK((known[1].place.line == 2 && known[2].place.line == 3));
}

TEST_CASE("a journal keeps the first errors of calls, and the last one that has a code") {
    Journal journal;
    for (std::size_t i = 0; i < 69; ++i) journal.add_error("cudaMalloc", 2, std::to_string(i));
    journal.add_error("launch", 0, "a note");
    journal.add_internal_error("first");
    journal.add_internal_error("second");
    auto report = journal.take(7.5);
    CHECK(report.call_errors.size() == 64);
    CHECK(report.call_errors.back().message == "63");
    REQUIRE(report.last_error);
    CHECK(report.last_error->message == "68");
    CHECK(report.clock_ns == 7.5);
    CHECK(report.internal_error == "first");
    report = journal.take();
    CHECK((report.call_errors.empty() && !report.last_error));
    CHECK(report.internal_error == "first");  // it is broken for good
}

TEST_CASE("what is printed goes to the program once") {
    Journal journal;
    CHECK_FALSE(journal.has_output());
    journal.print({"ab"});
    journal.print({"cd"});
    CHECK(journal.has_output());
    CHECK(journal.take_worker_output() == "abcd");
    CHECK_FALSE(journal.has_output());
    CHECK(journal.take().output == "abcd");
}

TEST_CASE("a journal is full when it has as many launches as are told") {
    Journal journal;
    for (std::size_t i = 0; i < 16384; ++i) {
        REQUIRE_FALSE(journal.full());
        journal.add_launch({});
    }
    CHECK(journal.full());
    journal.take();
    CHECK_FALSE(journal.full());
}

TEST_CASE("where no descriptor is left, memory for the origin is refused in words") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    std::string told;
    try {
        const OriginFile file;
    } catch (const std::system_error& error) {
        told = error.what();
    }
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(told == "cannot allocate memory for the origin: Too many open files");
}
