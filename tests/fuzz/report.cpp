// What the judge reads of a device server, which may be captured: its answer to "take", and all that is made of it. The
// input is the answer's text, or changes to an answer that is whole: which value (two bytes), and what stands there
// instead (one byte).
#include <nlohmann/json.hpp>

#include "device/origin_request.hpp"
#include "device/records.hpp"
#include "judge/device_server.hpp"
#include "judge/diagnostics.hpp"
#include "judge/explain.hpp"
#include "judge/origin.hpp"

namespace {

using namespace warpgrade;
using nlohmann::json;

const json& whole_answer() {
    static const json answer = [] {
        device::LaunchRecord launch;
        launch.kernel = launch.demangled = "k";
        launch.counters.inst_executed = 1;
        launch.lines.emplace_back();
        device::Diagnostic found;
        found.rule = &device::rules::race_shared;
        found.place = {"/submission/a.cu", 3, 1};
        found.related.emplace_back();
        device::OriginVerdict origin;
        origin.problem = device::OriginVerdict::Problem::changed;
        origin.argument = 0;
        origin.came.resize(4);
        origin.not_part.push_back(1);
        return json{{"ok", true},
                    {"launches", json::array({device::to_json(launch), device::to_compact_json(launch)})},
                    {"transfers", device::to_json(std::vector<device::TransferRecord>(1))},
                    {"allocations", device::to_json(std::vector<device::AllocationRecord>(1))},
                    {"waits", {1.0}},
                    {"clock_ns", 1.0},
                    {"output", "text"},
                    {"call_errors", json::array({{{"operation", "o"}, {"code", 801}, {"message", "m"}}})},
                    {"diagnostics", device::to_json(std::vector{found})},
                    {"origin", device::to_json(origin)},
                    {"connected", true}};
    }();
    return answer;
}

json changed_answer(const std::uint8_t* data, std::size_t size) {
    const json others[] = {nullptr,
                           true,
                           -1,
                           0,
                           1,
                           0xffffffffffffffffU,
                           1e308,
                           -0.5,
                           "",
                           "\x1b[31m\n",
                           "a\x80",
                           json::array(),
                           json::object(),
                           json::array({0, 1}),
                           std::string(70000, 'x'),
                           json::array({json::object()})};
    json flat = whole_answer().flatten();
    for (std::size_t i = 0; i + 3 <= size && !flat.empty(); i += 3) {
        auto at = flat.begin();
        std::advance(at, (data[i] | data[i + 1] << 8) % flat.size());
        if (data[i + 2] % 17 == 16)
            flat.erase(at);
        else
            *at = others[data[i + 2] % 17];
    }
    json result = json::object();
    for (const auto& [pointer, value] : flat.items()) try {
            result[json::json_pointer(pointer)] = value;
        } catch (const json::exception&) {  // no place for it any more
        }
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const json answer =
        data[0] % 2 ? json::parse(data + 1, data + size, nullptr, false) : changed_answer(data + 1, size - 1);
    judge::DeviceReport report;
    try {
        judge::read_report(answer, report);
    } catch (const std::exception&) {
        return 0;
    }
    // As a session does with it: words for messages, a verdict's line, the findings of several calls in one.
    for (const std::string& error : report.call_errors) judge::tame(error, 600);
    judge::tame(report.unsupported, 600);
    judge::tame(report.fault, 600);
    for (const auto& launch : report.launches) device::dump_line(device::to_json(launch));
    std::vector<device::Diagnostic> known;
    judge::merge(known, report.diagnostics);
    judge::merge(known, report.diagnostics);
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
