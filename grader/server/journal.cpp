#include "server/journal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "device/protocol.hpp"
#include "device/records.hpp"

namespace warpgrade::server {
namespace {

void cut(std::string& text, std::size_t limit) {
    if (text.size() > limit) text.replace(limit, std::string::npos, "…");
}

// Names and texts come from students' code and may be of any length.
void shorten_texts(Diagnostic& one) {
    cut(one.message, RecordLimits::max_text_bytes);
    cut(one.kernel, RecordLimits::max_name_bytes);
    cut(one.place.file, RecordLimits::max_name_bytes);
    for (RelatedPlace& other : one.related) cut(other.place.file, RecordLimits::max_name_bytes);
    if (one.memory) cut(one.memory->name, RecordLimits::max_name_bytes);
}

// Estimates the bytes of a line in the reply.
std::size_t estimate_bytes(const LineCounters& line) {
    std::size_t bytes = line.file.size() + 64;
#define WG_COUNTER(field, ncu, meaning) bytes += line.counters.field != 0 ? 40 : 0;
#include "device/counters.def"
#undef WG_COUNTER
    return bytes;
}

}  // namespace

void Journal::add_launch(LaunchRecord record) {
    cut(record.kernel, RecordLimits::max_name_bytes);
    cut(record.demangled, RecordLimits::max_name_bytes);
    std::size_t bytes = 0;
    for (LineCounters& line : record.lines) {
        cut(line.file, RecordLimits::max_name_bytes);
        bytes += estimate_bytes(line);
    }
    if (lines_ + record.lines.size() > RecordLimits::max_lines || line_bytes_ + bytes > RecordLimits::max_line_bytes) {
        report_.truncated.insert("lines");
        add_error("launch", 0,
                  fmt::format("{}: no counters by source line, since earlier launches already have {} lines",
                              record.demangled, lines_));
        record.lines.clear();
        bytes = 0;
    }
    if (record.trace) {
        for (SourcePlace& line : record.trace->lines) cut(line.file, RecordLimits::max_name_bytes);
        for (device::TracedArray& array : record.trace->arrays) cut(array.memory.name, RecordLimits::max_name_bytes);
    }
    lines_ += record.lines.size();
    line_bytes_ += bytes;
    report_.launches.push_back(std::move(record));
}

void Journal::add_allocation(std::string_view call, std::uint64_t bytes) {
    if (report_.allocations.size() < RecordLimits::max_allocations)
        report_.allocations.push_back({std::string(call), bytes});
    else
        report_.truncated.insert("allocations");
}

void Journal::add_error(std::string_view operation, int code, std::string_view message) {
    const CallError failed{std::string(operation), code, shorten(message.substr(0, wire::max_message_bytes))};
    if (code != 0) report_.last_error = failed;
    if (report_.call_errors.size() < RecordLimits::max_call_errors) report_.call_errors.push_back(failed);
}

void Journal::add(Diagnostic diagnostic) {
    shorten_texts(diagnostic);
    add_finding(report_.diagnostics, std::move(diagnostic), RecordLimits::max_diagnostics);
}

void Journal::add_internal_error(std::string_view message) {
    if (report_.internal_error.empty()) report_.internal_error = message.substr(0, wire::max_message_bytes);
}

void Journal::print(const device::PrintedText& printed) {
    output_.add(printed);
    worker_output_.add(printed);
}

std::string Journal::take_worker_output() { return to_string(worker_output_.take()); }

Report Journal::take(double clock_ns) {
    Report report = std::exchange(report_, {});
    report_.internal_error = report.internal_error;
    report.clock_ns = clock_ns;
    PrintedText printed = output_.take();
    if (printed.dropped_bytes > 0) report.truncated.insert("output");
    report.output = to_string(std::move(printed));
    lines_ = line_bytes_ = 0;
    return report;
}

}  // namespace warpgrade::server
