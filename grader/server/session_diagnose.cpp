// Findings about the host's calls, besides the error that each call returns.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "device/address_space.hpp"
#include "server/session.hpp"

namespace warpgrade::server {

using wire::Reader;
using wire::Writer;

namespace {

// "4,096 bytes"; "-1 bytes" for a negative size that was converted to size_t.
std::string bytes_text(std::uint64_t bytes) {
    if (static_cast<std::int64_t>(bytes) < 0) return fmt::format("{} bytes", static_cast<std::int64_t>(bytes));
    std::string digits = fmt::format("{}", bytes);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits + (bytes == 1 ? " byte" : " bytes");
}

RelatedPlace freed_at(const FoundMemory& memory) { return {"freed", memory.freed_at, std::nullopt}; }

}  // namespace

// Memory that ends on the page before the address. Host code that runs past the end of host-visible memory faults only
// at the next page.
std::optional<FoundMemory> Session::memory_before(DevicePtr address) const {
    constexpr DevicePtr page = 4096, unit = 256;  // of allocations
    const DevicePtr end = address / page * page;
    for (DevicePtr at = end; at > end - page; at -= unit)
        if (auto memory = find_memory(at - 1)) return memory;
    return std::nullopt;
}

Diagnostic Session::make_finding(const Rule& rule, std::string message) const {
    Diagnostic diagnostic;
    diagnostic.rule = &rule;
    diagnostic.message = std::move(message);
    diagnostic.place.code = current_code_;
    return diagnostic;
}

void Session::diagnose_free(DevicePtr address) {
    const auto memory = find_memory(address);
    if (!memory) {
        const bool device = address_space::is_device_address(address);
        journal_.add(make_finding(
            rules::bad_free, device ? fmt::format("frees {:#x}, where nothing was allocated", address)
                                    : fmt::format("frees {:#x}, which is host memory not allocated by CUDA", address)));
        return;
    }
    const std::uint64_t offset = address - memory->base;
    const bool twice = memory->freed && offset == 0;
    std::string message;
    if (twice)
        message = "frees {memory} again";
    else if (offset != 0)
        message = fmt::format("frees an address {} past the start of {{memory}}{}", bytes_text(offset),
                              memory->freed ? ", which was freed before" : "");
    else if (memory->place.variable)
        message = "frees {memory}, a variable, which exists as long as the program runs";
    else
        message = fmt::format("frees {{memory}}, which must be freed with {}", free_function(memory->place.kind));
    Diagnostic diagnostic = make_finding(twice ? rules::double_free : rules::bad_free, std::move(message));
    diagnostic.memory = memory->place;
    if (memory->freed) diagnostic.related.push_back(freed_at(*memory));
    journal_.add(std::move(diagnostic));
}

void Session::diagnose_range(DevicePtr address, std::uint64_t offset, std::uint64_t bytes, Use use) {
    const std::string what = use == Use::sets     ? fmt::format("sets {} of ", bytes_text(bytes))
                             : use == Use::writes ? fmt::format("copies {} to ", bytes_text(bytes))
                                                  : fmt::format("copies {} from ", bytes_text(bytes));
    const auto memory = find_memory(address);
    if (!memory) {
        // The client has already reported copies in the wrong direction.
        if (address_space::is_device_address(address))
            journal_.add(make_finding(rules::copy_out_of_bounds,
                                      fmt::format("{}{:#x}, where nothing is allocated", what, address)));
        else if (use == Use::sets)
            journal_.add(make_finding(
                rules::copy_direction,
                fmt::format("{}{:#x}, which is host memory: cudaMemset sets device memory", what, address)));
        return;
    }
    Diagnostic diagnostic = make_finding(memory->freed ? rules::use_after_free : rules::copy_out_of_bounds, what);
    offset += address - memory->base;
    if (offset != 0) diagnostic.message += fmt::format("offset {} of ", offset);
    if (memory->freed) {
        diagnostic.message += "{memory}, which was freed";
        diagnostic.related.push_back(freed_at(*memory));
    } else {
        diagnostic.message += "{memory}, which has " + bytes_text(memory->place.bytes);
    }
    diagnostic.memory = memory->place;
    journal_.add(std::move(diagnostic));
}

// The device itself explains faults of kernels. Limits of the device and of the journal are no mistakes.
void Session::diagnose_launch(FunctionId function, const DeviceError& failure) {
    if (failure.sticky || failure.code == error::not_supported || stalled() || journal_.full()) return;
    Diagnostic launch = make_finding(rules::bad_launch, failure.what());
    launch.kernel = device_.readable_name(function);
    Diagnostic unseen = launch;
    unseen.rule = &rules::unchecked_launch;
    unseen.message = fmt::format("the launch failed ({}), and its error was never checked", failure.what());
    journal_.add(std::move(launch));
    if (unchecked_launches_.size() < max_unchecked_launches)
        unchecked_launches_.insert_or_assign(current_sequence_, std::move(unseen));
}

void Session::finish() {
    if (std::exchange(finished_, true)) return;
    for (auto& [request, launch] : unchecked_launches_) journal_.add(std::move(launch));
    unchecked_launches_.clear();
    // A program that was killed could not free anything.
    if (!left_ || stalled()) return;
    report_leaks();
    report_leaked_handles();
}

// Reports one leak for each line that allocates, with the size of the first.
void Session::report_leaks() {
    std::map<std::pair<std::uint64_t, std::string>, Diagnostic> leaks;
    for (const DevicePtr address : allocations_) {
        const auto memory = find_memory(address);
        // Registered memory belongs to the program.
        if (!memory || memory->freed || memory->place.kind == MemoryKind::registered) continue;
        const auto [leak, first] = leaks.try_emplace({memory->place.allocated.code, memory->place.name});
        if (!first) {
            ++leak->second.count;
            continue;
        }
        leak->second = make_finding(rules::leak, "{memory} is never freed");
        leak->second.place = memory->place.allocated;
        leak->second.memory = memory->place;
    }
    for (auto& [line, leak] : leaks) journal_.add(std::move(leak));
}

// One for each line that creates, as with memory. What other libraries create has no line.
void Session::report_leaked_handles() {
    std::map<std::pair<std::uint64_t, const char*>, std::uint64_t> leaks;
    for (const auto& [stream, created] : streams_)
        if (created != 0) ++leaks[{created, "the stream is never destroyed"}];
    for (const auto& [event, state] : events_)
        if (state.created != 0) ++leaks[{state.created, "the event is never destroyed"}];
    for (const auto& [made, count] : leaks) {
        Diagnostic leak = make_finding(rules::leaked_handle, made.second);
        leak.place.code = made.first;
        leak.count = count;
        journal_.add(std::move(leak));
    }
}

void Session::op_refused_free(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    in.expect_end();
    diagnose_free(address);
}

void Session::op_refused_copy(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>(), offset = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
    const bool writes = in.get_bool();
    in.expect_end();
    diagnose_range(address, offset, bytes, writes ? Use::writes : Use::reads);
}

void Session::op_wrong_direction(Reader& in, Writer&) {
    constexpr std::array names{"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                               "cudaMemcpyDeviceToDevice"};
    const auto kind = in.get<std::uint8_t>();
    const bool destination = in.get_bool(), source = in.get_bool();  // is it on the device?
    in.expect_end();
    if (kind >= names.size()) throw wire::ProtocolError("a copy in an unknown direction");
    const bool to_device = (kind & 1) != 0, from_device = kind >= 2;
    const auto side = [](const char* name, bool device) {
        return fmt::format("the {} is {} memory", name, device ? "device" : "host");
    };
    std::string message;
    if (destination != to_device) message = side("destination", destination);
    if (source != from_device) message += (message.empty() ? "" : " and ") + side("source", source);
    message += fmt::format(", but the call says {}", names[kind]);
    // Measured on an H100.
    const bool refused = (to_device && !destination) || (from_device && !source);
    message += refused ? ": nothing is copied" : ": a GPU copies anyway, since it goes by the addresses";
    journal_.add(make_finding(rules::copy_direction, std::move(message)));
}

void Session::op_variable_address(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    const bool destination = in.get_bool(), constant = in.get_bool();
    in.expect_end();
    Diagnostic found = make_finding(
        rules::variable_address,
        fmt::format("the {} is {{memory}}, a {} variable, whose name in host code is no address on the device",
                    destination ? "destination" : "source", constant ? "__constant__" : "__device__"));
    const auto memory = find_memory(address);
    found.memory = memory ? memory->place : MemoryPlace{};
    journal_.add(std::move(found));
}

void Session::op_unmapped_host(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    in.expect_end();
    const bool device = address_space::is_device_address(address);
    journal_.add(make_finding(
        rules::unmapped_host,
        fmt::format("{:#x} {}", address,
                    device ? "is device memory, not host memory"
                           : "is host memory that comes neither from cudaHostAlloc nor from cudaHostRegister")));
}

void Session::op_over_stack(Reader& in, Writer&) {
    const auto bytes = in.get<std::uint64_t>();
    in.expect_end();
    journal_.add(make_finding(rules::copy_out_of_bounds,
                              fmt::format("copies {} to a local variable of the host's, which is smaller: the copy "
                                          "overwrites the function's other variables",
                                          bytes_text(bytes))));
}

void Session::op_look_at_launch(Reader& in, Writer&) {
    const auto request = in.get<std::uint32_t>();
    in.expect_end();
    unchecked_launches_.erase(request);
}

void Session::op_host_fault(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    const bool writes = in.get_bool();
    in.expect_end();
    const auto memory = find_memory(address);
    if (const auto before = memory ? std::nullopt : memory_before(address);
        before && !before->freed &&
        (before->place.kind == MemoryKind::managed || before->place.kind == MemoryKind::page_locked)) {
        Diagnostic past = make_finding(
            rules::out_of_bounds, fmt::format("host code {} past the end of {{memory}}", writes ? "writes" : "reads"));
        past.memory = before->place;
        journal_.add(std::move(past));
        return;
    }
    // The C library keeps an object's size before it.
    constexpr DevicePtr size_bytes = 8;
    if (const auto behind = memory || writes ? std::nullopt : find_memory(address + size_bytes);
        behind && behind->base == address + size_bytes && !behind->place.variable) {
        Diagnostic given = make_finding(
            rules::host_dereference,
            fmt::format("host code reads 8 bytes before {{memory}}, as free() and delete do, but {} frees it",
                        free_function(behind->place.kind)));
        given.memory = behind->place;
        journal_.add(std::move(given));
        return;
    }
    const bool freed = memory && memory->freed;
    const std::string what = memory ? "{memory}" : fmt::format("{:#x}", address);
    Diagnostic diagnostic = make_finding(freed ? rules::use_after_free : rules::host_dereference,
                                         fmt::format("host code {} {}{}", writes ? "writes to" : "reads", what,
                                                     freed ? ", which was freed" : ", an address in device memory"));
    if (memory) diagnostic.memory = memory->place;
    if (freed) diagnostic.related.push_back(freed_at(*memory));
    journal_.add(std::move(diagnostic));
}

void Session::op_leave(Reader& in, Writer&) {
    in.expect_end();
    left_ = true;
}

}  // namespace warpgrade::server
