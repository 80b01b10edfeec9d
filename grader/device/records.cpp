#include "device/records.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "device/fields.hpp"
#include "device/record_limits.hpp"
#include "device/record_reading.hpp"

namespace warpgrade::device {

using namespace reading;

namespace {

using nlohmann::json;

constexpr std::size_t max_lines = 1 << 20;  // of one record, far above what a device writes

constexpr const char* kinds[] = {"to_device", "to_host", "within_device", "fill"};  // of transfers

json dim_json(const Dim3& dim) { return json::array({dim.x, dim.y, dim.z}); }

// A JSON number cannot hold an infinity.
json number(double value) { return std::isfinite(value) ? json(value) : json(0.0); }

json nonzero_counters(const Counters& counters) {
    json result = json::object();
#define WG_COUNTER(field, ncu, meaning) \
    if (counters.field != 0) result[#field] = counters.field;
#include "device/counters.def"
#undef WG_COUNTER
    return result;
}

using CounterField = std::uint64_t Counters::*;
constexpr CounterField counter_fields[] = {
#define WG_COUNTER(field, ncu, meaning) &Counters::field,
#include "device/counters.def"
#undef WG_COUNTER
};

json compact_counters(const Counters& counters) {
    json::array_t result;
    for (std::size_t row = 0; row < std::size(counter_fields); ++row)
        if (const auto value = counters.*counter_fields[row]; value != 0) {
            result.emplace_back(row);
            result.emplace_back(value);
        }
    return result;
}

Counters counters_from_array(const json& value) {
    if (value.size() % 2 != 0) throw RecordError("counters: expected pairs");
    Counters counters;
    for (std::size_t i = 0; i < value.size(); i += 2) {
        std::size_t row = 0;
        read(value[i], "counter", row);
        if (row >= std::size(counter_fields)) throw RecordError("unknown counter: " + std::to_string(row));
        read(value[i + 1], "counter", counters.*counter_fields[row]);
    }
    return counters;
}

json to_json(const LaunchRecord& record, json lines, json counters) {
    const LaunchConfig& config = record.config;
    return {{"kernel", shown(record.kernel)},
            {"name", shown(record.demangled)},
            {"grid", dim_json(config.grid)},
            {"block", dim_json(config.block)},
            {"dynamic_shared_bytes", config.dynamic_shared_bytes},
            {"static_shared_bytes", record.static_shared_bytes},
            {"registers_per_thread", record.registers_per_thread},
            {"stream", config.stream},
            {"cooperative", config.cooperative},
            {"start_ns", number(record.start_ns)},
            {"duration_ns", number(record.duration_ns)},
            {"occupancy",
             {{"theoretical", number(record.occupancy.theoretical)},
              {"achieved", number(record.occupancy.achieved)},
              {"blocks_per_multiprocessor", record.occupancy.blocks_per_multiprocessor},
              {"limiter", record.occupancy.limiter}}},
            {"part_of_result", record.part_of_result},
            {"counters", std::move(counters)},
            {"lines", std::move(lines)},
            {"error", record.error_code == 0 ? json(nullptr)
                                             : json{{"code", record.error_code}, {"message", shown(record.error)}}}};
}

}  // namespace

json to_json(const Counters& counters) {
    json result = json::object();
#define WG_COUNTER(field, ncu, meaning) result[#field] = counters.field;
#include "device/counters.def"
#undef WG_COUNTER
    return result;
}

Counters counters_from_json(const json& value) {
    if (value.is_array()) return counters_from_array(value);
    if (!value.is_object()) throw RecordError("counters: expected an object");
    Counters counters;
    for (const auto& [name, count] : value.items()) {
#define WG_COUNTER(field, ncu, meaning)            \
    if (name == #field) {                          \
        read(count, name.c_str(), counters.field); \
        continue;                                  \
    }
#include "device/counters.def"
#undef WG_COUNTER
        throw RecordError("unknown counter: " + name.substr(0, 100));
    }
    return counters;
}

std::string shown(std::string_view text) {
    constexpr std::size_t max_shown_bytes = 4096;  // well below what a reader takes
    return text.size() <= max_shown_bytes ? std::string(text) : std::string(text.substr(0, max_shown_bytes)) + "…";
}

json to_json(const LaunchRecord& record) {
    json lines = json::array();
    for (const LineCounters& line : record.lines)
        lines.push_back(
            {{"file", shown(line.file)}, {"line", line.line}, {"counters", nonzero_counters(line.counters)}});
    return to_json(record, std::move(lines), to_json(record.counters));
}

json to_compact_json(const LaunchRecord& record) {
    json lines = json::array();
    for (const LineCounters& line : record.lines)
        lines.push_back(json::array({shown(line.file), line.line, compact_counters(line.counters)}));
    return to_json(record, std::move(lines), compact_counters(record.counters));
}

LaunchRecord launch_record_from_json(const json& value) {
    LaunchRecord record;
    read_member(value, "kernel", record.kernel);
    read_member(value, "name", record.demangled);
    read_member(value, "grid", record.config.grid);
    read_member(value, "block", record.config.block);
    read_member(value, "dynamic_shared_bytes", record.config.dynamic_shared_bytes);
    read_member(value, "static_shared_bytes", record.static_shared_bytes);
    read_member(value, "registers_per_thread", record.registers_per_thread);
    read_member(value, "stream", record.config.stream);
    read_member(value, "cooperative", record.config.cooperative);
    read_member(value, "start_ns", record.start_ns);
    read_member(value, "duration_ns", record.duration_ns);
    if (record.start_ns < 0 || record.duration_ns < 0) throw RecordError("time before the start");
    const json& occupancy = member(value, "occupancy");
    read_member(occupancy, "theoretical", record.occupancy.theoretical);
    read_member(occupancy, "achieved", record.occupancy.achieved);
    read_member(occupancy, "blocks_per_multiprocessor", record.occupancy.blocks_per_multiprocessor);
    read_member(occupancy, "limiter", record.occupancy.limiter);
    record.counters = counters_from_json(member(value, "counters"));
    const json& lines = member(value, "lines");
    if (!lines.is_array() || lines.size() > max_lines) throw RecordError("lines: expected an array");
    for (const json& line : lines) {
        LineCounters& counters = record.lines.emplace_back();
        if (line.is_array() && line.size() == 3) {
            read(line[0], "file", counters.file);
            read(line[1], "line", counters.line);
            counters.counters = counters_from_json(line[2]);
            continue;
        }
        read_member(line, "file", counters.file);
        read_member(line, "line", counters.line);
        counters.counters = counters_from_json(member(line, "counters"));
    }
    if (const json& error = member(value, "error"); !error.is_null()) {
        read_member(error, "code", record.error_code);
        read_member(error, "message", record.error);
        if (record.error_code == 0) throw RecordError("an error with the code for success");
    }
    return record;
}

json to_json(const DeviceProperties& properties) {
    json result = json::object();
    for_each_field(properties, [&](const char* name, const auto& field) {
        if constexpr (std::is_same_v<decltype(field), const Dim3&>)
            result[name] = dim_json(field);
        else
            result[name] = field;
    });
    return result;
}

std::string line_of(const DeviceProperties& properties) { return dump_line(to_json(properties)); }

DeviceProperties properties_from_json(const json& value) {
    DeviceProperties properties;
    for_each_field(properties, [&](const char* name, auto& field) { read_member(value, name, field); });
    return properties;
}

json to_json(const std::vector<TransferRecord>& transfers) {
    json result = json::array();
    for (const auto& transfer : transfers)
        result.push_back({{"kind", kinds[static_cast<std::size_t>(transfer.kind)]},
                          {"stream", transfer.stream},
                          {"bytes", transfer.bytes},
                          {"start_ns", number(transfer.when.start_ns)},
                          {"duration_ns", number(transfer.when.end_ns - transfer.when.start_ns)}});
    return result;
}

std::vector<TransferRecord> transfers_from_json(const json& value) {
    return list_from_json(value, "transfers", RecordLimits::max_transfers, [](const json& item) {
        TransferRecord transfer{};
        std::string kind;
        double duration_ns = 0;
        read_member(item, "kind", kind);
        const auto* const found = std::find(std::begin(kinds), std::end(kinds), kind);
        if (found == std::end(kinds)) wrong("kind", "a kind of transfer");
        transfer.kind = static_cast<TransferRecord::Kind>(found - std::begin(kinds));
        read_member(item, "stream", transfer.stream);
        read_member(item, "bytes", transfer.bytes);
        read_member(item, "start_ns", transfer.when.start_ns);
        read_member(item, "duration_ns", duration_ns);
        if (transfer.when.start_ns < 0 || duration_ns < 0) throw RecordError("time before the start");
        transfer.when.end_ns = transfer.when.start_ns + duration_ns;
        return transfer;
    });
}

json to_json(const std::vector<AllocationRecord>& allocations) {
    json result = json::array();
    for (const auto& allocation : allocations)
        result.push_back({{"call", allocation.call}, {"bytes", allocation.bytes}});
    return result;
}

std::vector<AllocationRecord> allocations_from_json(const json& value) {
    return list_from_json(value, "allocations", RecordLimits::max_allocations, [](const json& item) {
        AllocationRecord allocation;
        read_member(item, "call", allocation.call);
        read_member(item, "bytes", allocation.bytes);
        return allocation;
    });
}

namespace reading {

void read(const json& value, const char*, SourcePlace& place) {
    read_member(value, "file", place.file);
    read_member(value, "line", place.line);
    read_member(value, "code", place.code);
}

void read(const json& value, const char*, std::optional<ThreadPlace>& place) {
    if (value.is_null()) return;
    Dim3 thread, block;
    read_member(value, "thread", thread);
    read_member(value, "block", block);
    place = ThreadPlace{{thread.x, thread.y, thread.z}, {block.x, block.y, block.z}};
}

}  // namespace reading

namespace {

constexpr const char* severities[] = {"error", "warning", "advice"};
constexpr std::size_t max_related = 16;

json place_json(const SourcePlace& place) {
    return {{"file", shown(place.file)}, {"line", place.line}, {"code", place.code}};
}

json thread_json(const std::optional<ThreadPlace>& place) {
    if (!place) return nullptr;
    return {{"thread", place->thread}, {"block", place->block}};
}

json to_json(const Diagnostic& d) {
    json related = json::array();
    for (const RelatedPlace& r : d.related)
        related.push_back({{"role", shown(r.role)}, {"place", place_json(r.place)}, {"thread", thread_json(r.thread)}});
    json memory = nullptr;
    if (d.memory)
        memory = {{"name", shown(d.memory->name)},
                  {"variable", d.memory->variable},
                  {"bytes", d.memory->bytes},
                  {"allocated", place_json(d.memory->allocated)}};
    return {{"rule", d.rule->id},
            {"severity", severities[static_cast<std::size_t>(d.rule->severity)]},
            {"title", d.rule->title},
            {"help", d.rule->help},
            {"message", shown(d.message)},
            {"kernel", shown(d.kernel)},
            {"place", place_json(d.place)},
            {"thread", thread_json(d.thread)},
            {"related", std::move(related)},
            {"memory", std::move(memory)},
            {"count", d.count},
            {"weight", number(d.weight)}};
}

Diagnostic diagnostic_from_json(const json& value) {
    Diagnostic d;
    std::string id;
    read_member(value, "rule", id);
    d.rule = find_rule(id);
    if (!d.rule) wrong("rule", "a rule of rules.def");
    read_member(value, "message", d.message);
    read_member(value, "kernel", d.kernel);
    read_member(value, "place", d.place);
    read_member(value, "thread", d.thread);
    d.related = list_from_json(member(value, "related"), "related", max_related, [](const json& item) {
        RelatedPlace r;
        read_member(item, "role", r.role);
        read_member(item, "place", r.place);
        read_member(item, "thread", r.thread);
        return r;
    });
    if (const json& memory = member(value, "memory"); !memory.is_null()) {
        d.memory.emplace();
        read_member(memory, "name", d.memory->name);
        read_member(memory, "variable", d.memory->variable);
        read_member(memory, "bytes", d.memory->bytes);
        read_member(memory, "allocated", d.memory->allocated);
    }
    read_member(value, "count", d.count);
    read_member(value, "weight", d.weight);
    return d;
}

}  // namespace

json to_json(const std::vector<Diagnostic>& diagnostics) {
    json result = json::array();
    for (const Diagnostic& d : diagnostics) result.push_back(to_json(d));
    return result;
}

std::vector<Diagnostic> diagnostics_from_json(const json& value) {
    return list_from_json(value, "diagnostics", RecordLimits::max_diagnostics, diagnostic_from_json);
}

std::vector<double> waits_from_json(const json& value) {
    return list_from_json(value, "waits", RecordLimits::max_waits, [](const json& item) {
        double time_ns = 0;
        read(item, "waits", time_ns);
        return time_ns;
    });
}

std::string dump_line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

template <class T>
T integer_from_json(const json& value, const char* name) {
    T field{};
    read(value, name, field);
    return field;
}
template std::uint8_t integer_from_json(const json&, const char*);
template int integer_from_json(const json&, const char*);
template unsigned integer_from_json(const json&, const char*);
template std::uint64_t integer_from_json(const json&, const char*);

}  // namespace warpgrade::device
