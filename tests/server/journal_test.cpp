// Limits of names and texts from a program, and the marks of what is cut off.
#include "server/journal.hpp"

#include "judge/catch.hpp"

using namespace warpgrade::server;

namespace {

const std::string endless(10'000, 'x');

bool is_cut(const std::string& text, std::size_t limit) {
    return text.size() > limit && text.substr(0, limit) == endless.substr(0, limit) && text.substr(limit) == "…";
}

LaunchRecord with_lines(std::size_t count, const std::string& file = "k.cu") {
    LaunchRecord record;
    record.demangled = "k()";
    for (std::size_t i = 0; i < count; ++i) {
        LineCounters line;
        line.file = file, line.line = static_cast<std::uint32_t>(i);
        record.lines.push_back(line);
    }
    return record;
}

}  // namespace

TEST_CASE("a journal cuts each name and text that a program made up") {
    Journal journal;
    Diagnostic found;
    found.rule = &rules::race_shared;
    found.message = found.kernel = found.place.file = endless;
    found.related.push_back({"written by", {endless, 1, 0}, std::nullopt});
    found.memory.emplace().name = endless;
    journal.add(found);
    LaunchRecord launch = with_lines(1, endless);
    launch.kernel = launch.demangled = endless;
    journal.add_launch(launch);
    const Report report = journal.take(3);
    const Diagnostic& told = report.diagnostics.at(0);
    CHECK(is_cut(told.message, 4096));
    CHECK(is_cut(told.kernel, 512));
    CHECK(is_cut(told.place.file, 512));
    CHECK(is_cut(told.related.at(0).place.file, 512));
    CHECK(is_cut(told.memory.value().name, 512));
    const LaunchRecord& kept = report.launches.at(0);
    CHECK(is_cut(kept.kernel, 512));
    CHECK(is_cut(kept.demangled, 512));
    CHECK(is_cut(kept.lines.at(0).file, 512));
    CHECK(report.clock_ns == 3);
    CHECK(report.truncated.empty());
}

TEST_CASE("a name that just fits stays as it is") {
    Journal journal;
    LaunchRecord launch;
    launch.kernel = endless.substr(0, 512);
    journal.add_launch(launch);
    CHECK(journal.take().launches.at(0).kernel == launch.kernel);
}

TEST_CASE("lines beyond what can be told are left out with a word, launch by launch, until the next taking") {
    Journal journal;
    journal.add_launch(with_lines(RecordLimits::max_lines - 5));
    journal.add_launch(with_lines(6));
    journal.add_launch(with_lines(5));
    journal.add_launch(with_lines(1));
    const Report report = journal.take();
    REQUIRE(report.launches.size() == 4);
    CHECK(report.launches[0].lines.size() == RecordLimits::max_lines - 5);
    CHECK(report.launches[1].lines.empty());
    CHECK(report.launches[2].lines.size() == 5);
    CHECK(report.launches[3].lines.empty());
    CHECK(report.truncated.contains("lines"));
    REQUIRE(report.call_errors.size() == 2);
    CHECK(report.call_errors[0].operation == "launch");
    CHECK(report.call_errors[0].code == 0);
    CHECK(report.call_errors[0].message ==
          "k(): no counters by source line, since earlier launches already have 262139 lines");
    CHECK_FALSE(report.last_error);
    journal.add_launch(with_lines(6));
    CHECK(journal.take().launches.at(0).lines.size() == 6);
}

TEST_CASE("allocations are listed up to a limit, and that some are missing is said") {
    Journal journal;
    for (std::size_t i = 0; i < std::size_t{16384}; ++i) journal.add_allocation("cudaMalloc", i);
    Report report = journal.take();
    CHECK(report.allocations.size() == std::size_t{16384});
    CHECK(report.truncated.empty());
    for (std::size_t i = 0; i <= std::size_t{16384}; ++i) journal.add_allocation("cudaMalloc", i);
    report = journal.take();
    CHECK(report.allocations.size() == std::size_t{16384});
    CHECK(report.allocations.back().bytes == std::size_t{16384} - 1);
    CHECK(report.truncated == std::set<std::string>{"allocations"});
    CHECK(journal.take().truncated.empty());
}

TEST_CASE("the server's own trouble stays, the first of it") {
    Journal journal;
    journal.add_internal_error("first");
    journal.add_internal_error("second");
    CHECK(journal.take().internal_error == "first");
    CHECK(journal.take().internal_error == "first");
}

TEST_CASE(
    "lines are told as long as they take 64 MiB: each its file's name, 64 bytes, and 40 for each of its counters") {
    Journal journal;
    // Of 512 bytes, in two ways: 131072 of them are 64 MiB.
    LaunchRecord plain = with_lines(65536, std::string(448, 'n')), counted = with_lines(65536, std::string(368, 'n'));
    for (LineCounters& line : counted.lines) line.counters.inst_executed = line.counters.branches = 1;
    journal.add_launch(plain);
    journal.add_launch(counted);
    CHECK(journal.take().truncated.empty());
    journal.add_launch(plain);
    journal.add_launch(counted);
    journal.add_launch(with_lines(1, ""));
    journal.add_launch(with_lines(0));
    CHECK(journal.take().truncated == std::set<std::string>{"lines"});
}

TEST_CASE("of what kernels print the newest lines stay, and what is missing is said") {
    constexpr std::size_t most = RecordLimits::max_output_bytes;
    const std::string line = std::string(99, 'o') + "\n";
    Journal journal;
    for (std::size_t bytes = 0; bytes <= most + 10'000; bytes += line.size()) journal.print({line});
    journal.print({"the end\n"});
    const std::string kept = journal.take_worker_output();
    const auto first = kept.find('\n') + 1;
    CHECK(kept.substr(0, first) == "[printf's buffer was full: the first 101 lines, 10100 bytes, are missing]\n");
    CHECK((kept.size() - first - 8) % line.size() == 0);
    CHECK(kept.substr(kept.size() - 9) == "\nthe end\n");
    const Report report = journal.take();
    CHECK(report.output == kept);
    CHECK(report.truncated.contains("output"));
    CHECK_FALSE(journal.has_output());
    CHECK(journal.take().truncated.empty());
}

TEST_CASE("what a device has dropped counts as well, with all that was printed before it") {
    Journal journal;
    journal.print({"first\n"});
    journal.print({"last\n", 1000, 10});
    CHECK(journal.take_worker_output() ==
          "[printf's buffer was full: the first 11 lines, 1006 bytes, are missing]\nlast\n");
}

TEST_CASE("a line that is longer than all there is room for is cut") {
    Journal journal;
    journal.print({std::string(RecordLimits::max_output_bytes, 'a') + "bc"});
    const std::string kept = journal.take_worker_output();
    CHECK(kept.substr(0, kept.find('\n')) == "[printf's buffer was full: the first 0 lines, 2 bytes, are missing]");
    CHECK(kept.substr(kept.size() - 3) == "abc");
}
