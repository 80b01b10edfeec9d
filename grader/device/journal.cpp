#include "device/journal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "device/protocol.hpp"
#include "device/records.hpp"

namespace warpgrade::device {
namespace {

void append(std::string& text, std::string_view more, std::size_t limit) {
    if (text.size() < limit) text += more.substr(0, limit - text.size());
}

}  // namespace

void Journal::add_launch(LaunchRecord record) {
    if (lines_ + record.lines.size() > max_lines) {
        add_error("launch", 0,
                  fmt::format("{}: its counters by source line were left out, since earlier launches have {} lines",
                              record.demangled, lines_));
        record.lines.clear();
    }
    lines_ += record.lines.size();
    launches_.push_back(std::move(record));
}

void Journal::add_allocation(std::string_view call, std::uint64_t bytes) {
    if (allocations_.size() < max_allocations) allocations_.push_back({std::string(call), bytes});
}

void Journal::add_error(std::string_view operation, int code, std::string_view message) {
    message = message.substr(0, wire::max_message_bytes);
    if (code != 0) last_error_ = {{"code", code}, {"message", shown(message)}};
    if (call_errors_.size() < max_call_errors)
        call_errors_.push_back({{"operation", operation}, {"code", code}, {"message", shown(message)}});
}

void Journal::add(Diagnostic diagnostic) {
    const auto same = std::ranges::find_if(diagnostics_, [&](const Diagnostic& known) {
        return known.rule == diagnostic.rule && known.place == diagnostic.place && known.kernel == diagnostic.kernel &&
               std::ranges::equal(known.related, diagnostic.related, {}, &RelatedPlace::place, &RelatedPlace::place) &&
               known.place != SourcePlace{};
    });
    if (same != diagnostics_.end()) {
        same->count += diagnostic.count;
        same->weight += diagnostic.weight;
    } else if (diagnostics_.size() < max_diagnostics) {
        diagnostics_.push_back(std::move(diagnostic));
    }
}

void Journal::add_internal_error(std::string_view message) {
    if (internal_error_.is_null()) internal_error_ = message.substr(0, wire::max_message_bytes);
}

void Journal::print(std::string_view text) {
    append(output_, text, max_output_bytes);
    append(worker_output_, text, max_output_bytes);
}

std::string Journal::take_worker_output() { return std::exchange(worker_output_, {}); }

nlohmann::json Journal::take(double clock_ns, bool lines) {
    auto launches = nlohmann::json::array();
    for (LaunchRecord& record : launches_) {
        if (!lines) record.lines.clear();
        launches.push_back(to_json(record));
    }
    nlohmann::json reply = {{"ok", true},
                            {"launches", std::move(launches)},
                            {"allocations", to_json(std::exchange(allocations_, {}))},
                            {"clock_ns", clock_ns},
                            {"output", std::exchange(output_, {})},
                            {"call_errors", std::exchange(call_errors_, nlohmann::json::array())},
                            {"diagnostics", to_json(std::exchange(diagnostics_, {}))},
                            {"last_error", std::exchange(last_error_, nullptr)},
                            {"internal_error", internal_error_}};
    launches_.clear();
    lines_ = 0;
    return reply;
}

}  // namespace warpgrade::device
