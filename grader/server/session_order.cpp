// Feeds the accesses of copies, launches and frees to the racecheck between streams (stream_order.hpp), and words its
// findings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "device/address_space.hpp"
#include "server/session.hpp"

namespace warpgrade::server {

using wire::Reader;
using wire::Region;
using wire::Transfer;
using wire::Writer;
using Operation = StreamOrder::Operation;

namespace {

// A copy of more separate rows counts as one access that includes the gaps.
constexpr std::uint64_t max_rows = 65536;

std::string stream_name(StreamId stream) {
    return stream == 0 ? "the default stream" : fmt::format("stream {}", stream);
}

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

void Session::touch(const StreamOrder::OperationPtr& operation, const MemoryAccess& access, bool& reported) {
    const auto conflict = order_.touch(operation, access);
    if (!conflict || std::exchange(reported, true)) return;
    const Operation& earlier = *conflict->earlier;
    Diagnostic diagnostic = make_finding(
        rules::race_stream,
        fmt::format("{} in {} {} {{memory}} while {} in {} may still be using it: nothing makes one wait for the other",
                    operation->kind == Operation::Kind::kernel ? "the kernel" : subject(*operation),
                    stream_name(operation->stream), verb(*operation, conflict->use), subject(earlier),
                    stream_name(earlier.stream)));
    diagnostic.kernel = operation->kernel;
    if (const auto memory = find_memory(conflict->address)) diagnostic.memory = memory->place;
    diagnostic.related.push_back({fmt::format("{} by {}, issued", participle(conflict->earlier_use), subject(earlier)),
                                  {"", 0, earlier.code},
                                  std::nullopt});
    journal_.add(std::move(diagnostic));
}

void Session::touch(const StreamOrder::OperationPtr& operation, const Region& region, MemoryUse use, bool& reported) {
    std::uint64_t extent = 0;
    if (!region.extent(extent)) return;
    if (region.contiguous() || region.height > max_rows)
        return touch(operation, MemoryAccess{region.address, extent, use}, reported);
    for (std::uint64_t row = 0; row < region.height; ++row)
        touch(operation, MemoryAccess{region.address + row * region.pitch, region.width, use}, reported);
}

void Session::order_copy(Operation::Kind kind, const Transfer& transfer, const Region* destination,
                         const Region* source) {
    for (const auto& [region, use] : {std::pair(source, MemoryUse::read), std::pair(destination, MemoryUse::write)})
        if (std::uint64_t extent = 0; region && region->extent(extent))
            migrations_.record_accesses(std::array{MemoryAccess{region->address, extent, use}});
    if (!ordering_) return;
    const auto operation = order_.begin(kind, transfer.stream, current_code_);
    bool reported = false;
    if (source) touch(operation, *source, MemoryUse::read, reported);
    if (destination) touch(operation, *destination, MemoryUse::write, reported);
    if (transfer.host != 0 && (destination || source)) {
        const Region& other = destination ? *destination : *source;
        const MemoryUse use = destination ? MemoryUse::read : MemoryUse::write;
        touch(operation, Region{transfer.host, transfer.host_pitch, other.width, other.height}, use, reported);
    }
    if (transfer.blocking) order_.host_waits_for_stream(transfer.stream);
}

void Session::order_launch(FunctionId function, StreamId stream) {
    const auto accesses = analysis_->take_accesses();
    migrations_.record_accesses(accesses);
    if (!ordering_) return;
    const auto operation = order_.begin(Operation::Kind::kernel, stream, current_code_, device_.readable_name(function),
                                        analysis_->talks_to_host(function));
    bool reported = false;
    for (const MemoryAccess& access : accesses) touch(operation, access, reported);
}

void Session::order_free(DevicePtr address, StreamId stream) {
    const auto memory = device_.find_allocation(address);
    if (!ordering_ || !memory) return;
    bool reported = false;
    touch(order_.begin(Operation::Kind::free, stream, current_code_),
          MemoryAccess{memory->address, memory->bytes, MemoryUse::write}, reported);
    order_.forget_memory(memory->address, memory->bytes);
}

// cudaFree waits for the device, but host code may have read the memory too early before.
void Session::order_free_when_idle(DevicePtr address) {
    order_.device_is_idle();
    const auto memory = device_.find_allocation(address);
    if (!memory || memory->address != address || !allocations_.contains(address)) return;
    if (host_allocations_.contains(address))
        if (const auto write = order_.unseen_write(address, memory->bytes))
            report_unseen_write(*write, address, "the memory is freed");
    order_.forget_memory(memory->address, memory->bytes);
}

void Session::end_call() {
    if (ordering_ && !stalled())
        for (const DevicePtr address : host_allocations_)
            if (const auto memory = device_.find_allocation(address))
                if (const auto write = order_.unseen_write(address, memory->bytes))
                    report_unseen_write(*write, address, "the call ends");
    order_.host_waits_for_device();
}

void Session::report_unseen_write(const Operation& write, DevicePtr address, const char* when) {
    if (early_host_uses_.contains(address)) return;
    Diagnostic diagnostic = make_finding(
        rules::race_host,
        fmt::format(
            "{}, but nothing has waited for {} in {}, which writes {{memory}}: host code may have read it too early",
            when, subject(write), stream_name(write.stream)));
    if (const auto memory = find_memory(address)) diagnostic.memory = memory->place;
    diagnostic.related.push_back({"issued", {"", 0, write.code}, std::nullopt});
    journal_.add(std::move(diagnostic));
}

bool Session::has_running_writes() const {
    return ordering_ && !stalled() && std::ranges::any_of(managed_, [&](DevicePtr address) {
               const auto memory = device_.find_allocation(address);
               return memory && order_.running_write(address, memory->bytes);
           });
}

void Session::op_running_writes(Reader& in, Writer& out) {
    in.expect_end();
    constexpr DevicePtr page = address_space::page_bytes;
    std::size_t ranges = 0;
    DevicePtr begin = 0, end = 0;
    const auto put = [&] {
        if (begin != end && ranges++ < wire::max_page_ranges) out.put(begin).put(end);
    };
    for (const DevicePtr address : managed_) {
        const auto memory = device_.find_allocation(address);
        if (!memory) continue;
        order_.for_each_running_write(address, memory->bytes, [&](DevicePtr first, DevicePtr last) {
            first = first / page * page, last = (last + page - 1) / page * page;
            if (first > end) put(), begin = first;
            end = std::max(end, last);
        });
    }
    put();
}

void Session::op_host_touches(Reader& in, Writer&) {
    for (std::size_t i = 0; in.remaining() != 0; ++i) {
        if (i == wire::max_host_touches) throw wire::ProtocolError("too many uses of managed memory at once");
        const auto address = in.get<std::uint64_t>(), code = in.get<std::uint64_t>();
        check_host_use(address, code, in.get_bool());
    }
}

// Reports one use for each array and launch. The program's claims are untrusted, but affect only its own findings.
void Session::check_host_use(DevicePtr address, std::uint64_t code, bool writes) {
    const auto memory = device_.find_allocation(address);
    if (!ordering_ || stalled() || !memory || !managed_.contains(memory->address)) return;
    const auto write = order_.running_write(address, 1);
    if (!write || std::exchange(early_host_uses_[memory->address], write) == write) return;
    Diagnostic diagnostic = make_finding(
        rules::race_host,
        fmt::format("call cudaDeviceSynchronize() before the host {} {{memory}}: kernel `{}` in {}, which writes it, "
                    "may still be running",
                    writes ? "writes to" : "reads", write->kernel.substr(0, 100), stream_name(write->stream)));
    diagnostic.place.code = code;
    if (const auto known = find_memory(address)) diagnostic.memory = known->place;
    diagnostic.related.push_back({"launched", {"", 0, write->code}, std::nullopt});
    journal_.add(std::move(diagnostic));
}

}  // namespace warpgrade::server
