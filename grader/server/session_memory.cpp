// Device memory and streamed transfers.
#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "device/address_space.hpp"
#include "server/session.hpp"

namespace warpgrade::server {

using wire::Op;
using wire::Reader;
using wire::Region;
using wire::Transfer;
using wire::Writer;

namespace {

// Each is a mapping of the server; Linux allows a process some 65,000.
constexpr std::size_t max_host_allocations = 32768;
// A program has one for each separately compiled file.
constexpr std::size_t max_modules = 1024, max_reserved = 65536;

Region host_side(const Transfer& transfer, const Region& device) {
    Region host{transfer.host, transfer.host_pitch, device.width, device.height};
    std::uint64_t extent = 0, end = 0;
    if ((host.height > 1 && host.pitch < host.width) || !host.extent(extent) ||
        __builtin_add_overflow(host.address, extent, &end))
        throw DeviceError(error::invalid_value, "copy: size too large");
    return host;
}

}  // namespace

// Splits the host's side of a copy at the borders of page-locked allocations, since registered ones may be adjacent.
// Calls visit(address, data offset, bytes) for each part.
template <class Visit>
void Session::for_each_host_part(const Region& host, std::uint64_t offset, std::uint64_t bytes, Visit&& visit) {
    host.for_each_part(offset, bytes, [&](std::uint64_t address, std::uint64_t done, std::uint64_t part) {
        while (part > 0) {
            const auto memory = device_.find_allocation(address);
            if (!memory || !host_allocations_.contains(memory->address))
                throw DeviceError(error::invalid_value,
                                  fmt::format("copy: {:#x} is not page-locked host memory", address));
            const std::uint64_t here = std::min(part, memory->address + memory->bytes - address);
            visit(address, done, here);
            address += here, done += here, part -= here;
        }
    });
}

// Calls visit(host address, device address, bytes) for each part that is contiguous on both sides.
template <class Visit>
void Session::for_each_shared_part(const Region& host, const Region& device, Visit&& visit) {
    for_each_host_part(host, 0, device.bytes(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
        device.for_each_part(at, bytes, [&](std::uint64_t there, std::uint64_t done, std::uint64_t part) {
            visit(address + done, there, part);
        });
    });
}

void Session::read_host(const Region& host, std::uint64_t offset, std::span<std::byte> to) {
    for_each_host_part(host, offset, to.size(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
        device_.read(address, to.subspan(at, bytes));
    });
}

void Session::write_host(const Region& host, std::uint64_t offset, std::span<const std::byte> from) {
    for_each_host_part(host, offset, from.size(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
        device_.write(address, from.subspan(at, bytes));
    });
}

// The whole region must lie in one live allocation, as the CUDA runtime demands.
void Session::check_region(const Region& region, const char* what, Use use) {
    const std::uint64_t data = region.bytes();
    std::uint64_t extent = 0;
    if (!region.extent(extent) || (data == 0 && region.width != 0 && region.height != 0))
        throw DeviceError(error::invalid_value, fmt::format("{}: size too large", what));
    if (region.height > 1 && region.pitch < region.width)
        throw DeviceError(error::invalid_value, fmt::format("{}: rows of {} bytes with a pitch of only {}", what,
                                                            region.width, region.pitch));
    if (data == 0) return;
    const auto allocation = device_.find_allocation(region.address);
    if (!allocation) {
        diagnose_range(region.address, 0, extent, use);
        throw DeviceError(
            error::invalid_value,
            fmt::format(
                "{}: {:#x} is not in device memory: nothing was allocated there, it was freed, or it is a host pointer",
                what, region.address));
    }
    const std::uint64_t room = allocation->bytes - (region.address - allocation->address);
    if (extent > room) {
        diagnose_range(allocation->address, region.address - allocation->address, extent, use);
        throw DeviceError(
            error::invalid_value,
            fmt::format("{}: {} bytes from offset {} of an allocation of {} bytes reach {} bytes past "
                        "its end",
                        what, extent, region.address - allocation->address, allocation->bytes, extent - room));
    }
}

void Session::op_allocate(Reader& in, Writer& out) {
    const auto bytes = in.get<std::uint64_t>();
    const std::string origin = in.get_string(256);
    in.expect_end();
    const DevicePtr address = device_.allocate(bytes, {origin, current_code_});
    allocations_.insert(address);
    journal_.add_allocation(origin, bytes);
    out.put(address);
}

void Session::op_reserve_memory(Reader& in, Writer& out) {
    const auto bytes = in.get<std::uint64_t>();
    std::string origin = in.get_string(256);
    in.expect_end();
    if (reserved_.size() >= max_reserved)
        throw DeviceError(error::memory_allocation,
                          fmt::format("more than {} allocations that graphs make", max_reserved));
    const DevicePtr address = device_.reserve(bytes, {origin, current_code_});
    reserved_[address] = {bytes, std::move(origin), current_code_};
    out.put(address);
}

void Session::op_allocate_reserved(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    in.expect_end();
    if (stalled()) return;
    const auto found = reserved_.find(address);
    if (found == reserved_.end())
        throw DeviceError(error::invalid_value, fmt::format("{:#x} is no memory that a graph allocates", address));
    const auto& [bytes, origin, code] = found->second;
    device_.allocate_at(address, bytes, {origin, code});
    allocations_.insert(address);
    journal_.add_allocation(origin, bytes);
}

// Registered memory keeps the host's address, which must be outside the device's ranges.
void Session::op_allocate_host(Reader& in, Writer& out) {
    namespace space = address_space;
    const auto bytes = in.get<std::uint64_t>();
    const auto at = in.get<std::uint64_t>();
    const std::string origin = in.get_string(256);
    in.expect_end();
    if (bytes == 0 || bytes > space::host_end - space::host_base)
        throw DeviceError(error::memory_allocation, fmt::format("{}: {} bytes", origin, bytes));
    const bool misplaced = at % space::page_bytes != 0 || at >= space::user_end || bytes > space::user_end - at ||
                           (at < space::host_end && at + bytes > space::shared_base);
    if (at != 0 && misplaced)
        throw DeviceError(error::invalid_value, fmt::format("{}: {:#x} is not a page of host memory", origin, at));
    if (host_allocations_.size() >= max_host_allocations)
        throw DeviceError(
            error::memory_allocation,
            fmt::format("more than {} allocations of page-locked and managed memory", max_host_allocations));
    HostVisibleMemory memory = device_.allocate_host_visible(bytes, at, {origin, current_code_});
    allocations_.insert(memory.address);
    host_allocations_.insert(memory.address);
    if (memory_kind_of(origin) == MemoryKind::managed) add_managed(memory.address, memory.bytes);
    journal_.add_allocation(origin, bytes);
    attachment_ = std::move(memory.file);
    out.put(memory.address);
}

void Session::op_register_host(Reader& in, Writer&) {
    const auto bytes = in.get<std::uint64_t>(), address = in.get<std::uint64_t>();
    in.expect_end();
    origin_.register_host(address, bytes);
}

void Session::op_unregister_host(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    in.expect_end();
    origin_.unregister_host(address);
}

// Makes kernels' accesses exact from now on, since the host may use the rest of the memory.
void Session::add_managed(DevicePtr address, std::uint64_t bytes) {
    managed_.insert(address);
    migrations_.add(address, bytes);
    if (analysis_) analysis_->set_exact_accesses(true);
}

void Session::op_share_symbol(Reader& in, Writer& out) {
    const ModuleId module = checked_module(in.get<std::uint32_t>());
    const std::string name = in.get_string();
    in.expect_end();
    HostVisibleMemory memory = device_.share_symbol(module, name);
    add_managed(memory.address, memory.bytes);
    attachment_ = std::move(memory.file);
    out.put(memory.address).put(memory.bytes);
}

void Session::op_free_memory(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    in.expect_end();
    device_.drain();
    order_free_when_idle(address);
    // Module variables are no allocations of the context.
    if (!allocations_.contains(address)) {
        diagnose_free(address);
        throw DeviceError(
            error::invalid_value,
            fmt::format("cudaFree: {:#x} is not the start of an allocation, or was freed before", address));
    }
    free_allocation(address);
}

void Session::free_allocation(DevicePtr address) {
    device_.free(address, current_code_);
    allocations_.erase(address);
    host_allocations_.erase(address);
    managed_.erase(address);
    migrations_.remove(address);
    early_host_uses_.erase(address);
}

void Session::op_free_ordered(Reader& in, Writer&) {
    const auto address = in.get<std::uint64_t>();
    const StreamId stream = checked_stream(in.get<std::uint32_t>());
    in.expect_end();
    if (stalled()) return;
    if (!allocations_.contains(address)) {
        diagnose_free(address);
        throw DeviceError(error::invalid_value,
                          fmt::format("cudaFreeAsync: {:#x} is not the start of an allocation", address));
    }
    order_free(address, stream);
    free_allocation(address);
}

void Session::op_memory_info(Reader& in, Writer& out) {
    in.expect_end();
    const MemoryInfo info = device_.memory_info();
    out.put(info.free_bytes).put(info.total_bytes);
}

void Session::op_find_allocation(Reader& in, Writer& out) {
    const auto address = in.get<std::uint64_t>();
    in.expect_end();
    const auto found = device_.find_allocation(address).value_or(SymbolInfo{});
    out.put(found.address).put(found.bytes);
}

void Session::op_write(Reader& in, Writer& out) {
    Incoming incoming{.op = Op::write};
    incoming.region = Region::get(in);
    incoming.transfer = Transfer::get(in);
    device_.set_transfer_stream(checked_stream(incoming.transfer.stream));
    if (incoming.transfer.blocking) report_fault();
    incoming.discard = stalled();
    check_region(incoming.region, "copy to the device", Use::writes);
    incoming.total = incoming.region.bytes();
    if (incoming.transfer.host == 0) return start_incoming(std::move(incoming), in, out);
    in.expect_end();
    incoming_ = std::move(incoming);
    const Region host = host_side(incoming_->transfer, incoming_->region);
    if (device_.copies_host_memory()) {
        if (!incoming_->discard)
            for_each_shared_part(host, incoming_->region,
                                 [&](std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
                                     device_.copy(to, from, bytes, current_code_);
                                 });
        return finish_incoming(out);
    }
    std::vector<std::byte> piece(std::min<std::uint64_t>(wire::chunk_bytes, incoming_->total));
    while (!incoming_->discard && !incoming_->failure && incoming_->received < incoming_->total) {
        piece.resize(std::min<std::uint64_t>(piece.size(), incoming_->total - incoming_->received));
        read_host(host, incoming_->received, piece);
        accept_piece(piece);
    }
    finish_incoming(out);
}

void Session::op_load_module(Reader& in, Writer& out) {
    Incoming incoming{.op = Op::load_module};
    incoming.total = in.get<std::uint64_t>();
    if (incoming.total > wire::max_image_bytes - image_bytes_)
        throw DeviceError(error::device_kernel_image_is_invalid, "the program's device code is too large");
    if (modules_.size() >= max_modules)
        throw DeviceError(error::memory_allocation, fmt::format("more than {} modules at once", max_modules));
    start_incoming(std::move(incoming), in, out);
}

// A small transfer has its data in the request; a larger one waits for the client's data frames.
void Session::start_incoming(Incoming incoming, Reader& in, Writer& out) {
    incoming.sequence = current_sequence_;
    if (incoming.total <= wire::chunk_bytes) {
        if (in.remaining() != incoming.total) throw wire::ProtocolError("a transfer without its data");
        incoming_ = std::move(incoming);
        accept_piece(in.get_rest());
        finish_incoming(out);
    } else {
        in.expect_end();
        incoming_ = std::move(incoming);
    }
}

void Session::receive(const wire::Header& header, std::span<const std::byte> payload) {
    if (!incoming_ || header.sequence != incoming_->sequence) throw wire::ProtocolError("data without a transfer");
    if (payload.size() != std::min<std::uint64_t>(wire::chunk_bytes, incoming_->total - incoming_->received))
        throw wire::ProtocolError("a piece of the wrong size");
    accept_piece(payload);
    if (incoming_->received < incoming_->total) return;
    wire::Header request = header;
    request.op = incoming_->op;
    answer(request, [&](Writer& out) { finish_incoming(out); });
}

void Session::accept_piece(std::span<const std::byte> piece) {
    Incoming& incoming = *incoming_;
    const std::uint64_t offset = incoming.received;
    incoming.received += piece.size();
    if (incoming.discard || incoming.failure || piece.empty()) return;  // nothing may go to any address
    try {
        if (incoming.op == Op::load_module)
            incoming.image.insert(incoming.image.end(), piece.begin(), piece.end());
        else
            incoming.region.for_each_part(offset, piece.size(),
                                          [&](std::uint64_t address, std::uint64_t done, std::uint64_t bytes) {
                                              device_.write(address, piece.subspan(done, bytes));
                                          });
        if (incoming.op == Op::write) origin_.record_upload(incoming.region, piece, offset == 0);
    } catch (const DeviceError& failure) {
        incoming.failure = failure;
    } catch (const std::bad_alloc&) {
        incoming.failure = DeviceError(error::memory_allocation, "the device server is out of memory");
    }
}

void Session::finish_incoming(Writer& out) {
    const Incoming incoming = std::move(*incoming_);
    incoming_.reset();
    if (incoming.failure) throw *incoming.failure;
    if (incoming.op == Op::load_module) {
        const ModuleId module = device_.load_module(incoming.image);
        modules_.emplace(module, incoming.total);
        image_bytes_ += incoming.total;
        origin_.record_module(incoming.image);
        out.put(module);
    } else if (incoming.total > 0 && !incoming.discard) {
        const Transfer& transfer = incoming.transfer;
        device_.schedule_transfer(
            {TransferTime::Kind::to_device, transfer.stream, incoming.total, transfer.host != 0, transfer.blocking});
        order_copy(StreamOrder::Operation::Kind::to_device, transfer, &incoming.region, nullptr);
    }
}

void Session::copy_to_host(const Region& region, const Region& host) {
    const std::uint64_t total = region.bytes();
    std::vector<std::byte> piece(std::min<std::uint64_t>(wire::chunk_bytes, total));
    for (std::uint64_t done = 0; done < total; done += piece.size()) {
        piece.resize(std::min<std::uint64_t>(piece.size(), total - done));
        region.for_each_part(done, piece.size(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
            device_.read(address, std::span(piece).subspan(at, bytes));
        });
        write_host(host, done, piece);
    }
}

void Session::op_read(Reader& in, Writer& out) {
    const Region region = Region::get(in);
    Transfer transfer = Transfer::get(in);
    in.expect_end();
    device_.set_transfer_stream(checked_stream(transfer.stream));
    // Even an asynchronous copy to pageable memory returns only when it is done.
    if (transfer.host == 0) transfer.blocking = true;
    check_region(region, "copy from the device", Use::reads);
    const std::uint64_t total = region.bytes();
    if (total == 0) return;
    origin_.record_download(region);
    if (transfer.host != 0) {
        const Region host = host_side(transfer, region);
        if (device_.copies_host_memory())
            for_each_shared_part(host, region, [&](std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
                device_.copy(to, from, bytes, current_code_);
            });
        else
            copy_to_host(region, host);
    }
    device_.schedule_transfer(
        {TransferTime::Kind::to_host, transfer.stream, total, transfer.host != 0, transfer.blocking});
    order_copy(StreamOrder::Operation::Kind::to_host, transfer, nullptr, &region);
    if (transfer.host != 0) return;
    if (total > wire::chunk_bytes) {
        outgoing_ = {current_sequence_, region, total, 0};
        return;
    }
    const std::size_t before = out.bytes().size();
    out.bytes().resize(before + total);
    region.for_each_part(0, total, [&](std::uint64_t address, std::uint64_t done, std::uint64_t bytes) {
        device_.read(address, std::span(out.bytes()).subspan(before + done, bytes));
    });
}

void Session::refill() {
    if (!outgoing_ || !output_.empty()) return;
    Outgoing& outgoing = *outgoing_;
    const std::uint64_t piece = std::min<std::uint64_t>(wire::chunk_bytes, outgoing.total - outgoing.sent);
    wire::Header header;
    header.op = Op::data;
    header.sequence = outgoing.sequence;
    header.size = static_cast<std::uint32_t>(piece);
    output_.resize(sizeof header + piece);
    std::memcpy(output_.data(), &header, sizeof header);
    const auto data = std::span(output_).subspan(sizeof header);
    outgoing.region.for_each_part(outgoing.sent, piece,
                                  [&](std::uint64_t address, std::uint64_t done, std::uint64_t bytes) {
                                      device_.read(address, data.subspan(done, bytes));
                                  });
    outgoing.sent += piece;
    if (outgoing.sent == outgoing.total) outgoing_.reset();
}

void Session::op_copy(Reader& in, Writer&) {
    const Region destination = Region::get(in), source = Region::get(in);
    const Transfer transfer = Transfer::get(in);
    in.expect_end();
    device_.set_transfer_stream(checked_stream(transfer.stream));
    if (transfer.blocking) report_fault();
    check_region(destination, "copy within the device, destination", Use::writes);
    check_region(source, "copy within the device, source", Use::reads);
    if (destination.width != source.width || destination.height != source.height)
        throw DeviceError(error::invalid_value, "copy within the device: the two sides differ in size");
    const std::uint64_t total = source.bytes();
    if (total == 0 || stalled()) return;
    const bool contiguous = (destination.pitch == destination.width && source.pitch == source.width);
    const std::uint64_t rows = contiguous ? 1 : source.height, width = contiguous ? total : source.width;
    for (std::uint64_t row = 0; row < rows; ++row)
        device_.copy(destination.address + row * destination.pitch, source.address + row * source.pitch, width,
                     current_code_);
    origin_.record_copy(destination, source);
    // Managed memory is on the host until a kernel touches it.
    const bool from_host = device_.lies_on_host(source.address), to_host = device_.lies_on_host(destination.address);
    const auto link = to_host     ? TransferTime::Kind::to_host
                      : from_host ? TransferTime::Kind::to_device
                                  : TransferTime::Kind::within_device;
    device_.schedule_transfer({link, transfer.stream, total, true, transfer.blocking});
    order_copy(StreamOrder::Operation::Kind::within_device, transfer, &destination, &source);
}

void Session::op_fill(Reader& in, Writer&) {
    const Region region = Region::get(in);
    const auto value = in.get<std::uint8_t>();
    const Transfer transfer = Transfer::get(in);
    in.expect_end();
    device_.set_transfer_stream(checked_stream(transfer.stream));
    if (transfer.blocking) report_fault();
    check_region(region, "set device memory", Use::sets);
    const std::uint64_t total = region.bytes();
    if (total == 0 || stalled()) return;
    region.for_each_part(0, total, [&](std::uint64_t address, std::uint64_t, std::uint64_t bytes) {
        device_.fill(address, value, bytes);
    });
    device_.schedule_transfer({TransferTime::Kind::fill, transfer.stream, total, true, transfer.blocking});
    order_copy(StreamOrder::Operation::Kind::fill, transfer, &region, nullptr);
}

}  // namespace warpgrade::server
