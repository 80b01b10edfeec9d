// Modules, images, launches, streams and events.
#include <fmt/core.h>

#include <algorithm>

#include "device/fields.hpp"
#include "server/session.hpp"

namespace warpgrade::server {

using wire::Reader;
using wire::Writer;

namespace {

// More than any program needs; each takes memory of the server.
constexpr std::size_t max_streams = 1024, max_events = 65536, max_images = 65536;

}  // namespace

void Session::op_unload_module(Reader& in, Writer&) {
    const ModuleId module = checked_module(in.get<std::uint32_t>());
    in.expect_end();
    std::erase_if(functions_, [&](const auto& function) { return function.second == module; });
    image_bytes_ -= modules_.at(module);
    modules_.erase(module);
    device_.unload_module(module);
}

void Session::op_find_function(Reader& in, Writer& out) {
    const ModuleId module = checked_module(in.get<std::uint32_t>());
    const std::string name = in.get_string();
    in.expect_end();
    const FunctionId function = device_.find_function(module, name);
    functions_[function] = module;
    out.put(function);
    wire::put(out, device_.function_info(function));
}

void Session::op_find_symbol(Reader& in, Writer& out) {
    const ModuleId module = checked_module(in.get<std::uint32_t>());
    const std::string name = in.get_string();
    in.expect_end();
    const SymbolInfo symbol = device_.find_symbol(module, name);
    out.put(symbol.address).put(symbol.bytes);
}

void Session::op_set_dynamic_shared(Reader& in, Writer&) {
    const FunctionId function = checked_function(in.get<std::uint32_t>());
    const auto bytes = in.get<std::uint64_t>();
    in.expect_end();
    const std::uint64_t most = device_.properties().shared_mem_per_block_optin;
    const std::uint64_t own = device_.function_info(function).static_shared_bytes;
    if (own > most || bytes > most - own)
        throw DeviceError(error::invalid_value,
                          fmt::format("cudaFuncSetAttribute: {} bytes of dynamic and {} bytes of static shared memory "
                                      "are more than the {} bytes that a block can have",
                                      bytes, own, most));
    dynamic_shared_[function] = bytes;
}

std::uint64_t Session::dynamic_shared_limit(FunctionId function) const {
    const auto allowed = dynamic_shared_.find(function);
    if (allowed != dynamic_shared_.end()) return allowed->second;
    const std::uint64_t usual = device_.properties().shared_mem_per_block;
    return usual - std::min<std::uint64_t>(usual, device_.function_info(function).static_shared_bytes);
}

void Session::op_prefetch(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
    const bool to_device = in.get_bool();
    in.expect_end();
    if (!stalled()) migrations_.prefetch(address, bytes, to_device);
}

void Session::op_create_image(Reader& in, Writer& out) {
    const ImageDescriptor image = wire::get_image(in);
    in.expect_end();
    if (images_.size() >= max_images)
        throw DeviceError(
            error::memory_allocation,
            fmt::format(
                "more than {} texture and surface objects at once: does the program destroy those that it creates?",
                max_images));
    const ImageId id = device_.create_image(image);
    images_.insert(id);
    out.put(id);
}

void Session::op_destroy_image(Reader& in, Writer&) {
    const auto id = in.get<ImageId>();
    in.expect_end();
    if (images_.erase(id) == 0)
        throw DeviceError(error::invalid_value, fmt::format("{:#x} is not a texture or surface object", id));
    device_.destroy_image(id);
}

void Session::op_launch(Reader& in, Writer&) {
    const auto id = in.get<std::uint32_t>();
    LaunchConfig config;
    wire::get_field(in, config.grid);
    wire::get_field(in, config.block);
    config.dynamic_shared_bytes = in.get<std::uint64_t>();
    config.stream = in.get<std::uint32_t>();
    config.cooperative = in.get_bool();
    const auto params = in.get_rest();

    const FunctionId function = checked_function(id);
    checked_stream(config.stream);
    try {
        launch(function, config, params);
    } catch (const DeviceError& failure) {
        if (failure.sticky) throw;
        diagnose_launch(function, failure);
        throw DeviceError(failure.code,
                          fmt::format("launch of '{}': {}", device_.readable_name(function), failure.what()));
    }
}

void Session::launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params) {
    const FunctionInfo& info = device_.function_info(function);
    if (params.size() != info.param_bytes)
        throw DeviceError(error::invalid_value, fmt::format("{} bytes of arguments for a kernel that takes {}",
                                                            params.size(), info.param_bytes));
    const std::uint64_t limit = dynamic_shared_limit(function);
    if (config.dynamic_shared_bytes > limit)
        throw DeviceError(
            error::invalid_value,
            fmt::format("{} bytes of dynamic shared memory, but this kernel may use {}; request more with "
                        "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); a block can "
                        "have {} in all",
                        config.dynamic_shared_bytes, limit, device_.properties().shared_mem_per_block_optin));
    if (stalled()) return;
    if (journal_.full())
        throw DeviceError(
            error::launch_out_of_resources,
            fmt::format("more than {} kernel launches in one call of the lab's function: further ones are not run",
                        RecordLimits::max_launches));
    migrations_.find_host_writes();
    try {
        device_.launch(function, config, params);
    } catch (const DeviceError& failure) {
        if (!failure.sticky) {
            if (analysis_) analysis_->take_records();  // nothing ran
            throw;
        }
        note_fault(failure);
    }
    record_launch(function, config, info);
    launch_children();
}

// Kernels that a kernel launched run after its grid: it cannot wait for them.
void Session::launch_children() {
    constexpr unsigned max_depth = 24;  // as on a real device
    const std::vector<ChildLaunch> children = device_.take_children();
    const unsigned depth = depth_++;
    for (const ChildLaunch& child : children) {
        if (stalled()) break;
        try {
            if (depth >= max_depth)
                throw DeviceError(error::launch_max_depth_exceeded,
                                  fmt::format("kernels launch kernels more than {} deep", max_depth));
            launch(child.function, child.config, child.params);
        } catch (const DeviceError& failure) {
            Diagnostic found =
                make_finding(rules::bad_launch, fmt::format("{}, in a launch by a kernel", failure.what()));
            found.kernel = device_.readable_name(child.function);
            journal_.add(std::move(found));
            if (journal_.full()) break;  // that was the message that says so
        }
    }
    depth_ = depth;
}

LaunchRecord Session::take_record(FunctionId function, const LaunchConfig& config, const FunctionInfo& info) {
    std::vector<LaunchRecord> records;
    if (analysis_) records = analysis_->take_records();
    if (records.size() == 1) return std::move(records.front());
    if (analysis_ && !stalled()) throw std::logic_error("a launch without exactly one record");
    LaunchRecord record;
    record.kernel = info.name;
    record.demangled = device_.readable_name(function);
    record.config = config;
    record.registers_per_thread = info.registers_per_thread;
    record.static_shared_bytes = info.static_shared_bytes;
    record.occupancy =
        device_.occupancy(function, static_cast<std::uint32_t>(config.block.count()), config.dynamic_shared_bytes);
    return record;
}

void Session::record_launch(FunctionId function, const LaunchConfig& config, const FunctionInfo& info) {
    LaunchRecord record = take_record(function, config, info);
    if (stalled()) record.error_code = fault_.code, record.error = fault_.message;
    if (analysis_) {
        for (Diagnostic& found : analysis_->take_diagnostics()) journal_.add(std::move(found));
        origin_.record_launch(record);
        order_launch(function, config.stream);
    }
    journal_.add_launch(std::move(record));
    journal_.print(device_.take_output());
}

void Session::op_occupancy(Reader& in, Writer& out) {
    const FunctionId function = checked_function(in.get<std::uint32_t>());
    const auto threads = in.get<std::uint32_t>();
    const auto bytes = in.get<std::uint64_t>();
    in.expect_end();
    if (threads == 0) throw DeviceError(error::invalid_value, "occupancy: a block without threads");
    out.put(device_.occupancy(function, threads, bytes).blocks_per_multiprocessor);
}

void Session::op_create_stream(Reader& in, Writer& out) {
    const bool blocking = in.get_bool(), owned = in.get_bool();
    in.expect_end();
    if (streams_.size() >= max_streams) throw DeviceError(error::memory_allocation, "too many streams");
    const StreamId stream = next_stream_;
    if (!order_.add_stream(stream, blocking))
        throw DeviceError(error::memory_allocation, "too many streams were destroyed while they still had work");
    ++next_stream_;
    streams_.emplace(stream, owned ? current_code_ : 0);
    device_.create_stream(stream, blocking);
    if (ordering_) analysis_->set_exact_accesses(true);
    out.put(stream);
}

void Session::op_destroy_stream(Reader& in, Writer&) {
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    in.expect_end();
    if (stream == 0) throw DeviceError(error::invalid_resource_handle, "the default stream cannot be destroyed");
    streams_.erase(stream);
    device_.destroy_stream(stream);
    order_.remove_stream(stream);
}

void Session::op_synchronize_stream(Reader& in, Writer&) {
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    in.expect_end();
    device_.synchronize_stream(stream);
    order_.host_waits_for_stream(stream);
}

void Session::op_query_stream(Reader& in, Writer&) {
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    in.expect_end();
    if (!device_.query_stream(stream)) throw DeviceError(error::not_ready, "the stream still has work");
    order_.host_waits_for_stream(stream);
}

void Session::op_stream_wait_event(Reader& in, Writer&) {
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    const EventId id = in.get<std::uint32_t>();
    const Event& event = checked_event(id);
    in.expect_end();
    if (!event.recorded || stalled()) return;
    device_.wait_for_event(stream, id);
    order_.wait(stream, id);
}

void Session::op_host_function(Reader& in, Writer&) {
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    in.expect_end();
    order_.host_function(stream);
}

void Session::op_create_event(Reader& in, Writer& out) {
    const bool timing = in.get_bool();
    in.expect_end();
    if (events_.size() >= max_events) throw DeviceError(error::memory_allocation, "too many events");
    const EventId event = next_event_++;
    events_[event] = {timing, false, current_code_};
    out.put(event);
}

void Session::op_destroy_event(Reader& in, Writer&) {
    const auto event = in.get<std::uint32_t>();
    in.expect_end();
    checked_event(event);
    events_.erase(event);
    device_.forget_event(event);
    order_.forget_event(event);
}

void Session::op_record_event(Reader& in, Writer&) {
    const EventId id = in.get<std::uint32_t>();
    Event& event = checked_event(id);
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    in.expect_end();
    if (stalled()) return;
    event.recorded = true;
    device_.record_event(id, stream);
    order_.record(id, stream);
}

void Session::op_synchronize_event(Reader& in, Writer&) {
    const EventId id = in.get<std::uint32_t>();
    checked_event(id);
    in.expect_end();
    device_.synchronize_event(id);
    order_.host_waits_for_event(id);
}

void Session::op_query_event(Reader& in, Writer&) {
    const EventId id = in.get<std::uint32_t>();
    checked_event(id);
    in.expect_end();
    if (!device_.query_event(id)) throw DeviceError(error::not_ready, "the event has not happened yet");
    order_.host_waits_for_event(id);
}

void Session::op_elapsed_time(Reader& in, Writer& out) {
    const EventId ids[] = {in.get<std::uint32_t>(), in.get<std::uint32_t>()};
    const Event &start = checked_event(ids[0]), &end = checked_event(ids[1]);
    in.expect_end();
    if (!start.timing || !end.timing)
        throw DeviceError(error::invalid_resource_handle, "cudaEventElapsedTime: the event was created without timing");
    if (!start.recorded || !end.recorded)
        throw DeviceError(error::invalid_resource_handle, "cudaEventElapsedTime: the event was never recorded");
    const auto elapsed_ns = device_.elapsed_ns(ids[0], ids[1]);
    if (!elapsed_ns) throw DeviceError(error::not_ready, "cudaEventElapsedTime: the event has not happened yet");
    for (const EventId id : ids) order_.host_waits_for_event(id);
    out.put(*elapsed_ns);
}

void Session::op_synchronize_device(Reader& in, Writer&) {
    in.expect_end();
    device_.synchronize_device();
    order_.host_waits_for_device();
}

void Session::op_set_limit(Reader& in, Writer& out) {
    const auto limit = in.get<std::uint8_t>();
    const auto bytes = in.get<std::uint64_t>();
    in.expect_end();
    if (limit > static_cast<std::uint8_t>(Limit::MallocHeapSize))
        throw DeviceError(error::unsupported_limit, "cudaDeviceSetLimit: this device does not have this limit");
    out.put(device_.set_limit(static_cast<Limit>(limit), bytes));
}

}  // namespace warpgrade::server
