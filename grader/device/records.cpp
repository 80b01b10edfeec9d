#include "device/records.hpp"

#include <algorithm>
#include <cmath>

#include "device/fields.hpp"
#include "device/kinds.hpp"

namespace warpgrade::device {

namespace {

using nlohmann::json;

constexpr const char* transfer_kinds[] = {"to_device", "to_host", "within_device", "fill"};

json dim_json(const Dim3& dim) { return json::array({dim.x, dim.y, dim.z}); }

// A JSON number cannot hold an infinity.
json number(double value) { return std::isfinite(value) ? json(value) : json(0.0); }

json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

json nonzero_counters(const Counters& counters) {
    json result = json::object();
#define WG_COUNTER(field, ncu, meaning) \
    if (counters.field != 0) result[#field] = counters.field;
#include "device/counters.def"
#undef WG_COUNTER
    return result;
}

}  // namespace

json to_json(const Counters& counters) {
    json result = json::object();
#define WG_COUNTER(field, ncu, meaning) result[#field] = counters.field;
#include "device/counters.def"
#undef WG_COUNTER
    return result;
}

std::string shorten(std::string_view text) {
    return text.size() <= max_string_bytes ? std::string(text) : std::string(text.substr(0, max_string_bytes)) + "…";
}

namespace {

constexpr const char* severities[] = {"error", "warning", "advice"};
constexpr const char* access_kinds[] = {"load", "store", "atomic"};
constexpr const char* access_spaces[] = {"global", "shared"};

json place_json(const SourcePlace& place) {
    return {{"file", shorten(place.file)}, {"line", place.line}, {"code", place.code}};
}

json memory_json(const MemoryPlace& memory) {
    return {{"name", shorten(memory.name)},
            {"variable", memory.variable},
            {"bytes", memory.bytes},
            {"allocated", place_json(memory.allocated)}};
}

// Triples of first, step and count: lanes that are one after the other are often as far apart as the two before them.
json steps_json(const std::vector<std::uint64_t>& offsets) {
    json steps = json::array();
    for (std::size_t i = 0; i < offsets.size();) {
        std::size_t end = i + 1;
        const auto step = static_cast<std::int64_t>(end < offsets.size() ? offsets[end] - offsets[i] : 0);
        while (end < offsets.size() && static_cast<std::int64_t>(offsets[end] - offsets[end - 1]) == step) ++end;
        steps.push_back({offsets[i], step, end - i});
        i = end;
    }
    return steps;
}

json trace_json(const AccessTrace& trace) {
    json lines = json::array(), arrays = json::array(), accesses = json::array();
    for (const SourcePlace& line : trace.lines) lines.push_back({{"file", shorten(line.file)}, {"line", line.line}});
    for (const TracedArray& array : trace.arrays)
        arrays.push_back({{"memory", memory_json(array.memory)}, {"begin", array.begin}});
    for (const TracedAccess& one : trace.accesses)
        accesses.push_back({{"kind", access_kinds[static_cast<std::size_t>(one.kind)]},
                            {"space", access_spaces[static_cast<std::size_t>(one.space)]},
                            {"bytes", one.bytes},
                            {"mask", one.mask},
                            {"line", one.line},
                            {"array", one.array},
                            {"block", one.block},
                            {"warp", one.warp},
                            {"units", one.units},
                            {"conflicts", one.conflicts},
                            {"offsets", steps_json(one.offsets)}});
    return {{"lines", std::move(lines)}, {"arrays", std::move(arrays)}, {"accesses", std::move(accesses)}};
}

}  // namespace

json to_json(const LaunchRecord& record) {
    json lines = json::array();
    for (const LineCounters& line : record.lines)
        lines.push_back(
            {{"file", shorten(line.file)}, {"line", line.line}, {"counters", nonzero_counters(line.counters)}});
    json costs = json::object();
    for (const CauseCost& cost : record.costs) costs[shorten(cost.cause)] = number(cost.share);
    const LaunchConfig& config = record.config;
    json result = {
        {"kernel", shorten(record.kernel)},
        {"name", shorten(record.demangled)},
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
        {"counters", record.counters ? to_json(*record.counters) : json(nullptr)},
        {"most_block_instructions", record.most_block_instructions},
        {"lines", std::move(lines)},
        {"costs", std::move(costs)},
        {"error", record.error_code == 0 ? json(nullptr)
                                         : json{{"code", record.error_code}, {"message", shorten(record.error)}}}};
    if (record.sampled_blocks != 0) result["sampled_blocks"] = record.sampled_blocks;
    if (record.trace) result["trace"] = trace_json(*record.trace);
    if (const auto& proof = record.any_data; proof && proof->holds)
        result["any_data"] = {{"holds", true}};
    else if (proof)
        result["any_data"] = {
            {"holds", false}, {"because", shorten(proof->because)}, {"place", place_json(proof->place)}};
    return result;
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

DeviceProperties parse_properties(const std::string& text) {
    const auto all = json::parse(text).get<json::object_t>();
    DeviceProperties properties;
    for_each_field(properties, [&]<class T>(const char* name, T& field) {
        const auto found = all.find(name);
        if (found == all.end()) return;
        if constexpr (std::is_same_v<T, Dim3>)
            field = {found->second.at(0), found->second.at(1), found->second.at(2)};
        else
            field = found->second.get<T>();
    });
    return properties;
}

std::string describe(const DeviceProperties& properties, std::string_view device) {
    const Kind kind = find_kind(device);
    json result = to_json(properties);
    result["kind"] = {{"name", kind.name}, {"repeatable", kind.repeatable}, {"analysed", kind.analysed}};
    return dump_line(result);
}

json to_json(const std::vector<TransferRecord>& transfers) {
    json result = json::array();
    for (const auto& transfer : transfers)
        result.push_back({{"kind", transfer_kinds[static_cast<std::size_t>(transfer.kind)]},
                          {"stream", transfer.stream},
                          {"bytes", transfer.bytes},
                          {"start_ns", number(transfer.when.start_ns)},
                          {"duration_ns", number(transfer.when.end_ns - transfer.when.start_ns)}});
    return result;
}

json to_json(const std::vector<AllocationRecord>& allocations) {
    json result = json::array();
    for (const auto& allocation : allocations)
        result.push_back({{"call", allocation.call}, {"bytes", allocation.bytes}});
    return result;
}

namespace {

json thread_json(const std::optional<ThreadPlace>& place) {
    if (!place) return nullptr;
    return {{"thread", place->thread}, {"block", place->block}};
}

json to_json(const Diagnostic& d) {
    json related = json::array();
    for (const RelatedPlace& r : d.related)
        related.push_back(
            {{"role", shorten(r.role)}, {"place", place_json(r.place)}, {"thread", thread_json(r.thread)}});
    json memory = nullptr;
    if (d.memory) memory = memory_json(*d.memory);
    return {{"rule", d.rule->id},
            {"severity", severities[static_cast<std::size_t>(d.rule->severity)]},
            {"title", d.rule->title},
            {"help", d.rule->help},
            {"message", shorten(d.message)},
            {"kernel", shorten(d.kernel)},
            {"place", place_json(d.place)},
            {"thread", thread_json(d.thread)},
            {"related", std::move(related)},
            {"memory", std::move(memory)},
            {"count", d.count},
            {"weight", number(d.weight)}};
}

}  // namespace

json to_json(const std::vector<Diagnostic>& diagnostics) {
    json result = json::array();
    for (const Diagnostic& d : diagnostics) result.push_back(to_json(d));
    return result;
}

std::string dump_line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string to_valid_utf8(std::string_view text) {
    if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
        return std::string(text);
    return json::parse(dump_line(text)).get<std::string>();
}

}  // namespace warpgrade::device
