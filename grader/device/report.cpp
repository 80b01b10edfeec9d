#include "device/report.hpp"

#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>

#include "device/origin_request.hpp"
#include "device/packing.hpp"
#include "device/record_limits.hpp"

namespace warpgrade::device {
namespace {

// More than any device writes.
constexpr std::size_t max_related = 16, max_came_bytes = 4096, max_truncated = 16, max_costs = 16;
constexpr std::size_t max_lanes = 32;

using CounterField = std::uint64_t Counters::*;
constexpr CounterField counter_fields[] = {
#define WG_COUNTER(field, ncu, meaning) &Counters::field,
#include "device/counters.def"
#undef WG_COUNTER
};

}  // namespace

// For each structure, the fields that a judge reads, in their order in the bytes.

template <class Archive>
void fields(Archive& archive, Dim3& dim) {
    archive(dim.x, dim.y, dim.z);
}

// Most counters are zero, so a bit mask of the others comes first.
template <class Archive>
void fields(Archive& archive, Counters& counters) {
    static_assert(std::size(counter_fields) < 64);
    std::uint64_t others = 0;
    if constexpr (!Archive::reads)
        for (std::size_t row = 0; row < std::size(counter_fields); ++row)
            others |= std::uint64_t{counters.*counter_fields[row] != 0} << row;
    archive(others);
    if (others >> std::size(counter_fields)) throw RecordError("a counter that there is not");
    for (; others != 0; others &= others - 1) archive(counters.*counter_fields[std::countr_zero(others)]);
}

template <class Archive>
void fields(Archive& archive, LineCounters& line) {
    archive(line.file, line.line, line.counters);
}

template <class Archive>
void fields(Archive& archive, CauseCost& cost) {
    archive(cost.cause, cost.share);
}

template <class Archive>
void optional_time(Archive& archive, std::optional<double>& ns) {
    bool known = ns.has_value();
    archive(known);
    if (known) archive.time(Archive::reads ? ns.emplace() : *ns);
}

template <class Archive>
void fields(Archive& archive, SourcePlace& place) {
    archive(place.file, place.line, place.code);
}

template <class Archive>
void fields(Archive& archive, MemoryPlace& memory) {
    archive(memory.name, memory.variable, memory.bytes, memory.allocated);
}

template <class Archive>
void fields(Archive& archive, TracedArray& array) {
    archive(array.memory, array.begin);
}

template <class Archive>
void fields(Archive& archive, TracedAccess& access) {
    archive.enumerator(access.kind, TracedAccess::Kind::atomic);
    archive.enumerator(access.space, TracedAccess::Space::shared);
    archive(access.bytes, access.mask, access.line, access.array, access.block, access.warp, access.units,
            access.conflicts);
    archive.list(access.offsets, max_lanes);
}

template <class Archive>
void fields(Archive& archive, AccessTrace& trace) {
    archive.list(trace.lines, AccessTrace::max_launch_accesses);
    archive.list(trace.arrays, AccessTrace::max_launch_accesses);
    archive.list(trace.accesses, AccessTrace::max_launch_accesses);
}

template <class Archive>
void fields(Archive& archive, AnyData& proof) {
    archive(proof.holds, proof.because, proof.place);
}

template <class Archive>
void fields(Archive& archive, LaunchRecord& record) {
    LaunchConfig& config = record.config;
    archive(record.kernel, record.demangled, config.grid, config.block, config.dynamic_shared_bytes, config.stream,
            config.cooperative, record.static_shared_bytes, record.registers_per_thread);
    optional_time(archive, record.start_ns), optional_time(archive, record.duration_ns);
    Occupancy& occupancy = record.occupancy;
    archive(occupancy.theoretical, occupancy.achieved, occupancy.blocks_per_multiprocessor, occupancy.limiter);
    archive(record.counters, record.most_block_instructions);
    archive.list(record.lines, RecordLimits::max_lines);
    archive.list(record.costs, max_costs);
    archive(record.trace, record.any_data, record.any_order);
    archive(record.error_code);
    if (record.error_code != error::success) archive(record.error);
}

template <class Archive>
void fields(Archive& archive, TransferRecord& transfer) {
    double duration_ns = transfer.when.end_ns - transfer.when.start_ns;
    archive.enumerator(transfer.kind, TransferRecord::Kind::fill);
    archive(transfer.stream, transfer.bytes);
    archive.time(transfer.when.start_ns), archive.time(duration_ns);
    if constexpr (Archive::reads) transfer.when.end_ns = transfer.when.start_ns + duration_ns;
}

template <class Archive>
void fields(Archive& archive, AllocationRecord& allocation) {
    archive(allocation.call, allocation.bytes);
}

template <class Archive>
void fields(Archive& archive, CallError& failed) {
    archive(failed.operation, failed.code, failed.message);
}

template <class Archive>
void fields(Archive& archive, ThreadPlace& place) {
    for (std::uint32_t& index : place.thread) archive(index);
    for (std::uint32_t& index : place.block) archive(index);
}

template <class Archive>
void fields(Archive& archive, RelatedPlace& related) {
    archive(related.role, related.place, related.thread);
}

template <class Archive>
void fields(Archive& archive, Diagnostic& found) {
    std::string rule = Archive::reads ? "" : found.rule->id;
    archive(rule);
    if constexpr (Archive::reads) found.rule = find_rule(rule);
    if (!found.rule) throw RecordError("a rule that there is not");
    archive(found.message, found.kernel, found.place, found.thread);
    archive.list(found.related, max_related);
    archive(found.memory, found.count, found.weight);
}

template <class Archive>
void fields(Archive& archive, OriginVerdict& verdict) {
    archive.enumerator(verdict.problem, OriginVerdict::Problem::picked);
    archive(verdict.argument, verdict.element, verdict.elsewhere, verdict.bytes);
    archive.list(verdict.sample, max_came_bytes);
    archive(verdict.mapped, verdict.decision, verdict.compared, verdict.needs_kernels, verdict.changes);
    archive.list(verdict.not_part, RecordLimits::max_launches);
}

template <class Archive>
void fields(Archive& archive, Report& report) {
    archive(report.analysed);
    archive.list(report.launches, RecordLimits::max_launches);
    archive.list(report.transfers, RecordLimits::max_transfers);
    archive.list(report.allocations, RecordLimits::max_allocations);
    archive.list(report.waits_ns, RecordLimits::max_waits);
    archive(report.clock_ns, report.mean_clock_ghz);
    archive.output(report.output);
    archive.list(report.call_errors, RecordLimits::max_call_errors);
    archive.list(report.diagnostics, RecordLimits::max_diagnostics);
    archive(report.origin);
    archive.list(report.truncated, max_truncated);
    archive(report.connected, report.internal_error);
}

std::string pack_report(const Report& report) {
    Packer archive;
    archive(report);
    return archive.take();
}

Report unpack_report(std::string_view bytes) {
    Unpacker archive(bytes);
    Report report;
    archive(report);
    archive.expect_end();
    return report;
}

nlohmann::json to_json(const Report& report) {
    using nlohmann::json;
    json launches = json::array(), call_errors = json::array(), last_error;
    for (const LaunchRecord& record : report.launches) launches.push_back(to_json(record));
    for (const CallError& failed : report.call_errors)
        call_errors.push_back(
            {{"operation", failed.operation}, {"code", failed.code}, {"message", shorten(failed.message)}});
    if (report.last_error)
        last_error = {{"code", report.last_error->code}, {"message", shorten(report.last_error->message)}};
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
