#include "server/journal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "device/protocol.hpp"
#include "device/records.hpp"

namespace warpgrade::device {
namespace {

// False: not all of it fits.
bool append(std::string& text, std::string_view more, std::size_t limit) {
    const bool fits = more.size() <= limit - std::min(limit, text.size());
    if (text.size() < limit) text += more.substr(0, limit - text.size());
    return fits;
}

void cut(std::string& text, std::size_t limit) {
    if (text.size() > limit) text.replace(limit, std::string::npos, "…");
}

// Names and texts come from what students compiled.
void bound(Diagnostic& one) {
    cut(one.message, RecordLimits::max_text_bytes);
    cut(one.kernel, RecordLimits::max_name_bytes);
    cut(one.place.file, RecordLimits::max_name_bytes);
    for (RelatedPlace& other : one.related) cut(other.place.file, RecordLimits::max_name_bytes);
    if (one.memory) cut(one.memory->name, RecordLimits::max_name_bytes);
}

// About what a line takes in the reply.
std::size_t weight_of(const LineCounters& line) {
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
        bytes += weight_of(line);
    }
    if (lines_ + record.lines.size() > RecordLimits::max_lines || line_bytes_ + bytes > RecordLimits::max_line_bytes) {
        truncated_.insert("lines");
        add_error("launch", 0,
                  fmt::format("{}: no counters by source line, since earlier launches already have {} lines",
                              record.demangled, lines_));
        record.lines.clear();
        bytes = 0;
    }
    lines_ += record.lines.size();
    line_bytes_ += bytes;
    launches_.push_back(std::move(record));
}

void Journal::add_allocation(std::string_view call, std::uint64_t bytes) {
    if (allocations_.size() < RecordLimits::max_allocations)
        allocations_.push_back({std::string(call), bytes});
    else
        truncated_.insert("allocations");
}

void Journal::add_error(std::string_view operation, int code, std::string_view message) {
    message = message.substr(0, wire::max_message_bytes);
    if (code != 0) last_error_ = {{"code", code}, {"message", shown(message)}};
    if (call_errors_.size() < RecordLimits::max_call_errors)
        call_errors_.push_back({{"operation", operation}, {"code", code}, {"message", shown(message)}});
}

void Journal::add(Diagnostic diagnostic) {
    bound(diagnostic);
    keep(diagnostics_, std::move(diagnostic), RecordLimits::max_diagnostics);
}

void Journal::add_internal_error(std::string_view message) {
    if (internal_error_.is_null()) internal_error_ = message.substr(0, wire::max_message_bytes);
}

void Journal::print(std::string_view text) {
    if (!append(output_, text, RecordLimits::max_output_bytes)) truncated_.insert("output");
    append(worker_output_, text, RecordLimits::max_output_bytes);
}

std::string Journal::take_worker_output() { return std::exchange(worker_output_, {}); }

nlohmann::json Journal::take(double clock_ns, bool lines, bool compact) {
    auto launches = nlohmann::json::array();
    for (LaunchRecord& record : launches_) {
        if (!lines) record.lines.clear();
        launches.push_back(compact ? to_compact_json(record) : to_json(record));
    }
    nlohmann::json reply = {{"ok", true},
                            {"launches", std::move(launches)},
                            {"allocations", to_json(std::exchange(allocations_, {}))},
                            {"clock_ns", clock_ns},
                            {"output", std::exchange(output_, {})},
                            {"call_errors", std::exchange(call_errors_, nlohmann::json::array())},
                            {"diagnostics", to_json(std::exchange(diagnostics_, {}))},
                            {"truncated", std::exchange(truncated_, {})},
                            {"last_error", std::exchange(last_error_, nullptr)},
                            {"internal_error", internal_error_}};
    launches_.clear();
    lines_ = line_bytes_ = 0;
    return reply;
}

}  // namespace warpgrade::device
