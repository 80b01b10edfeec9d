#include "device/report.hpp"

#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>

#include "device/origin_request.hpp"
#include "device/packing.hpp"
#include "device/record_limits.hpp"

namespace warpgrade::device {
namespace {

constexpr std::size_t max_related = 16, max_came_bytes = 4096, max_truncated = 16;

using CounterField = std::uint64_t Counters::*;
constexpr CounterField counter_fields[] = {
#define WG_COUNTER(field, ncu, meaning) &Counters::field,
#include "device/counters.def"
#undef WG_COUNTER
};

}  // namespace

// Of each structure what a judge reads, in the order in which it travels.

template <class Way>
void fields(Way& way, Dim3& dim) {
    way(dim.x, dim.y, dim.z);
}

// Most of them are zero: first which are not, a bit for each row.
template <class Way>
void fields(Way& way, Counters& counters) {
    static_assert(std::size(counter_fields) < 64);
    std::uint64_t others = 0;
    if constexpr (!Way::reads)
        for (std::size_t row = 0; row < std::size(counter_fields); ++row)
            others |= std::uint64_t{counters.*counter_fields[row] != 0} << row;
    way(others);
    if (others >> std::size(counter_fields)) throw RecordError("a counter that there is not");
    for (; others != 0; others &= others - 1) way(counters.*counter_fields[std::countr_zero(others)]);
}

template <class Way>
void fields(Way& way, LineCounters& line) {
    way(line.file, line.line, line.counters);
}

template <class Way>
void moment(Way& way, std::optional<double>& ns) {
    bool known = ns.has_value();
    way(known);
    if (known) way.time(Way::reads ? ns.emplace() : *ns);
}

template <class Way>
void fields(Way& way, LaunchRecord& record) {
    LaunchConfig& config = record.config;
    way(record.kernel, record.demangled, config.grid, config.block, config.dynamic_shared_bytes, config.stream,
        config.cooperative, record.static_shared_bytes, record.registers_per_thread);
    moment(way, record.start_ns), moment(way, record.duration_ns);
    Occupancy& occupancy = record.occupancy;
    way(occupancy.theoretical, occupancy.achieved, occupancy.blocks_per_multiprocessor, occupancy.limiter);
    way(record.counters, record.most_block_instructions);
    way.list(record.lines, RecordLimits::max_lines);
    way(record.error_code);
    if (record.error_code != error::success) way(record.error);
}

template <class Way>
void fields(Way& way, TransferRecord& transfer) {
    double duration_ns = transfer.when.end_ns - transfer.when.start_ns;
    way.choice(transfer.kind, TransferRecord::Kind::fill);
    way(transfer.stream, transfer.bytes);
    way.time(transfer.when.start_ns), way.time(duration_ns);
    if constexpr (Way::reads) transfer.when.end_ns = transfer.when.start_ns + duration_ns;
}

template <class Way>
void fields(Way& way, AllocationRecord& allocation) {
    way(allocation.call, allocation.bytes);
}

template <class Way>
void fields(Way& way, CallError& failed) {
    way(failed.operation, failed.code, failed.message);
}

template <class Way>
void fields(Way& way, SourcePlace& place) {
    way(place.file, place.line, place.code);
}

template <class Way>
void fields(Way& way, ThreadPlace& place) {
    for (std::uint32_t& index : place.thread) way(index);
    for (std::uint32_t& index : place.block) way(index);
}

template <class Way>
void fields(Way& way, RelatedPlace& related) {
    way(related.role, related.place, related.thread);
}

template <class Way>
void fields(Way& way, MemoryPlace& memory) {
    way(memory.name, memory.variable, memory.bytes, memory.allocated);
}

template <class Way>
void fields(Way& way, Diagnostic& found) {
    std::string rule = Way::reads ? "" : found.rule->id;
    way(rule);
    if constexpr (Way::reads) found.rule = find_rule(rule);
    if (!found.rule) throw RecordError("a rule that there is not");
    way(found.message, found.kernel, found.place, found.thread);
    way.list(found.related, max_related);
    way(found.memory, found.count, found.weight);
}

template <class Way>
void fields(Way& way, OriginVerdict& verdict) {
    way.choice(verdict.problem, OriginVerdict::Problem::overflow);
    way(verdict.argument, verdict.element, verdict.elsewhere, verdict.bytes);
    way.list(verdict.came, max_came_bytes);
    way(verdict.mapped, verdict.decision, verdict.compared, verdict.needs_kernels, verdict.changes);
    way.list(verdict.not_part, RecordLimits::max_launches);
}

template <class Way>
void fields(Way& way, Report& report) {
    way(report.analysed);
    way.list(report.launches, RecordLimits::max_launches);
    way.list(report.transfers, RecordLimits::max_transfers);
    way.list(report.allocations, RecordLimits::max_allocations);
    way.list(report.waits_ns, RecordLimits::max_waits);
    way(report.clock_ns);
    way.output(report.output);
    way.list(report.call_errors, RecordLimits::max_call_errors);
    way.list(report.diagnostics, RecordLimits::max_diagnostics);
    way(report.origin);
    way.list(report.truncated, max_truncated);
    way(report.connected, report.internal_error);
}

std::string packed(const Report& report) {
    Packer way;
    way(report);
    return way.take();
}

Report unpacked(std::string_view bytes) {
    Unpacker way(bytes);
    Report report;
    way(report);
    way.done();
    return report;
}

nlohmann::json to_json(const Report& report) {
    using nlohmann::json;
    json launches = json::array(), call_errors = json::array(), last_error;
    for (const LaunchRecord& record : report.launches) launches.push_back(to_json(record));
    for (const CallError& failed : report.call_errors)
        call_errors.push_back(
            {{"operation", failed.operation}, {"code", failed.code}, {"message", shown(failed.message)}});
    if (report.last_error)
        last_error = {{"code", report.last_error->code}, {"message", shown(report.last_error->message)}};
    json reply = {{"ok", true},
                  {"analysed", report.analysed},
                  {"launches", std::move(launches)},
                  {"transfers", to_json(report.transfers)},
                  {"allocations", to_json(report.allocations)},
                  {"waits", report.waits_ns},
                  {"clock_ns", report.clock_ns},
                  {"output", report.output},
                  {"call_errors", std::move(call_errors)},
                  {"diagnostics", to_json(report.diagnostics)},
                  {"truncated", report.truncated},
                  {"connected", report.connected},
                  {"last_error", std::move(last_error)},
                  {"internal_error", report.internal_error.empty() ? json(nullptr) : json(report.internal_error)}};
    if (report.origin) reply["origin"] = to_json(*report.origin);
    return reply;
}

}  // namespace warpgrade::device
