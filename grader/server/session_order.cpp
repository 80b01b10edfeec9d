// Who touches which memory in which stream: what the order of streams is checked by (stream_order.hpp), and the words
// for what has none.
#include <fmt/format.h>

#include <utility>

#include "server/session.hpp"

namespace warpgrade::device {

using wire::Region;
using wire::Transfer;
using Operation = StreamOrder::Operation;

namespace {

// Of a copy whose rows lie apart, beyond it the gaps count as well.
constexpr std::uint64_t most_rows = 65536;

std::string name_of(StreamId stream) { return stream == 0 ? "the default stream" : fmt::format("stream {}", stream); }

std::string subject(const Operation& operation) {
    switch (operation.kind) {
        case Operation::Kind::kernel:
            return fmt::format("kernel `{}`", operation.kernel.substr(0, 100));
        case Operation::Kind::to_device:
            return "a copy to the device";
        case Operation::Kind::to_host:
            return "a copy to the host";
        case Operation::Kind::within_device:
            return "a copy within the device";
        case Operation::Kind::fill:
            return "a cudaMemset";
        case Operation::Kind::free:
            break;
    }
    return "a cudaFreeAsync";
}

const char* verb(const Operation& operation, MemoryUse use) {
    if (operation.kind == Operation::Kind::free) return "frees";
    return use == MemoryUse::read ? "reads" : use == MemoryUse::write ? "writes" : "changes";
}

const char* participle(MemoryUse use) {
    return use == MemoryUse::read ? "read" : use == MemoryUse::write ? "written" : "changed";
}

}  // namespace

void Session::touch(const StreamOrder::OperationPtr& operation, const MemoryAccess& access, bool& told) {
    const auto conflict = order_.touch(operation, access);
    if (!conflict || std::exchange(told, true)) return;
    const Operation& earlier = *conflict->earlier;
    Diagnostic diagnostic = found(
        rules::race_stream,
        fmt::format("{} in {} {} {{memory}} while {} in {} may still be using it: nothing makes one wait for the other",
                    operation->kind == Operation::Kind::kernel ? "the kernel" : subject(*operation),
                    name_of(operation->stream), verb(*operation, conflict->use), subject(earlier),
                    name_of(earlier.stream)));
    diagnostic.kernel = operation->kernel;
    if (const auto memory = device_.known_memory(conflict->address)) diagnostic.memory = memory->place;
    diagnostic.related.push_back({fmt::format("{} by {}, issued", participle(conflict->earlier_use), subject(earlier)),
                                  {"", 0, earlier.code},
                                  std::nullopt});
    journal_.add(std::move(diagnostic));
}

void Session::touch(const StreamOrder::OperationPtr& operation, const Region& region, MemoryUse use, bool& told) {
    std::uint64_t extent = 0;
    if (!region.extent(extent)) return;
    if (region.contiguous() || region.height > most_rows)
        return touch(operation, MemoryAccess{region.address, extent, use}, told);
    for (std::uint64_t row = 0; row < region.height; ++row)
        touch(operation, MemoryAccess{region.address + row * region.pitch, region.width, use}, told);
}

void Session::order_copy(Operation::Kind kind, const Transfer& transfer, const Region* destination,
                         const Region* source) {
    if (!ordering_) return;
    const auto operation = order_.begin(kind, transfer.stream, current_code_);
    bool told = false;
    if (source) touch(operation, *source, MemoryUse::read, told);
    if (destination) touch(operation, *destination, MemoryUse::write, told);
    if (transfer.host != 0 && (destination || source)) {
        const Region& other = destination ? *destination : *source;
        const MemoryUse use = destination ? MemoryUse::read : MemoryUse::write;
        touch(operation, Region{transfer.host, transfer.host_pitch, other.width, other.height}, use, told);
    }
    if (transfer.blocking) order_.host_waits_for_stream(transfer.stream);
}

void Session::order_launch(FunctionId function, StreamId stream) {
    const auto accesses = device_.take_accesses();
    if (!ordering_) return;
    const auto operation =
        order_.begin(Operation::Kind::kernel, stream, current_code_, device_.readable_name(function));
    bool told = false;
    for (const MemoryAccess& access : accesses) touch(operation, access, told);
}

void Session::order_free(DevicePtr address, StreamId stream) {
    const auto memory = device_.find_allocation(address);
    if (!ordering_ || !memory) return;
    bool told = false;
    touch(order_.begin(Operation::Kind::free, stream, current_code_),
          MemoryAccess{memory->address, memory->bytes, MemoryUse::write}, told);
    order_.forget_memory(memory->address, memory->bytes);
}

// The device is idle when memory is freed; what the host has read of it before, it may have read too early.
void Session::order_idle_free(DevicePtr address) {
    if (!ordering_) return;
    order_.device_is_idle();
    const auto memory = device_.find_allocation(address);
    if (!memory || memory->address != address || !allocations_.contains(address)) return;
    if (host_allocations_.contains(address))
        if (const auto write = order_.unseen_write(address, memory->bytes))
            tell_unseen(*write, address, "the memory is freed");
    order_.forget_memory(memory->address, memory->bytes);
}

void Session::end_call() {
    if (ordering_ && !stalled())
        for (const DevicePtr address : host_allocations_)
            if (const auto memory = device_.find_allocation(address))
                if (const auto write = order_.unseen_write(address, memory->bytes))
                    tell_unseen(*write, address, "the call ends");
    order_.host_waits_for_device();
}

// `when`: what happens now.
void Session::tell_unseen(const Operation& write, DevicePtr address, const char* when) {
    Diagnostic diagnostic = found(
        rules::race_host,
        fmt::format(
            "{}, but nothing has waited for {} in {}, which writes {{memory}}: host code may have read it too early",
            when, subject(write), name_of(write.stream)));
    if (const auto memory = device_.known_memory(address)) diagnostic.memory = memory->place;
    diagnostic.related.push_back({"issued", {"", 0, write.code}, std::nullopt});
    journal_.add(std::move(diagnostic));
}

}  // namespace warpgrade::device
