// What the judge reads of a device server, which may be captured: its report, and all that is made of it. The input is
// the report's bytes, or changes to those of one that is whole: which byte (two bytes), and what stands there instead.
#include "device/records.hpp"
#include "judge/device_server.hpp"
#include "judge/diagnostics.hpp"
#include "judge/explain.hpp"
#include "judge/origin.hpp"

namespace {

using namespace warpgrade;

const std::string& whole_report() {
    static const std::string bytes = [] {
        device::Report report;
        auto& launch = report.launches.emplace_back();
        launch.kernel = launch.demangled = "k";
        launch.counters.emplace().inst_executed = 1;
        launch.lines.emplace_back().counters.barriers = 1;
        launch.error_code = 700;
        launch.error = "e";
        report.transfers.resize(1);
        report.allocations.push_back({"cudaMalloc", 4});
        report.waits_ns = {1.0};
        report.clock_ns = 1.0;
        report.output = "text";
        report.call_errors.push_back({"o", 801, "m"});
        auto& found = report.diagnostics.emplace_back();
        found.rule = &device::rules::race_shared;
        found.place = {"/submission/a.cu", 3, 1};
        found.thread.emplace();
        found.related.emplace_back();
        found.memory.emplace();
        auto& origin = report.origin.emplace();
        origin.problem = device::OriginVerdict::Problem::changed;
        origin.argument = 0;
        origin.sample.resize(4);
        origin.not_part.push_back(1);
        report.truncated = {"waits"};
        return device::pack_report(report);
    }();
    return bytes;
}

std::string changed_report(const std::uint8_t* data, std::size_t size) {
    std::string bytes = whole_report();
    for (std::size_t i = 0; i + 3 <= size; i += 3)
        bytes[(data[i] | data[i + 1] << 8) % bytes.size()] = static_cast<char>(data[i + 2]);
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    judge::DeviceReport report;
    try {
        report =
            judge::read_report(data[0] % 2 ? std::string(data + 1, data + size) : changed_report(data + 1, size - 1));
    } catch (const std::exception&) {
        return 0;
    }
    // As a session does with it: words for messages, a verdict's line, the findings of several calls in one.
    for (const std::string& error : report.errors) judge::tame(error, 600);
    judge::tame(report.unsupported, 600);
    judge::tame(report.fault, 600);
    for (const auto& launch : report.launches) device::dump_line(device::to_json(launch));
    std::vector<device::Diagnostic> known;
    for (int call = 0; call < 2; ++call)
        for (const device::Diagnostic& one : report.diagnostics) device::add_finding(known, one, 100);
    device::dump_line(device::to_json(known));
    if (report.origin) {
        judge::CallSpec spec{
            "f", {{.kind = wire::Kind::out, .type = wire::Type::f32, .count = 4, .text = ""}}, wire::Type::f64, {"C"}};
        spec.arguments.push_back({.kind = wire::Kind::scalar, .type = wire::Type::i32, .text = "1"});
        const judge::Arena::Snapshot snapshot{{std::vector<std::byte>(16)}, {}};
        judge::explain_origin(*report.origin, spec, snapshot, 7);
    }
    return 0;
}
