#include "cudart/state/host_memory.hpp"

#include <sys/mman.h>

#include <cstdio>

#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/shared_pages.hpp"
#include "device/address_space.hpp"

namespace warpgrade::cudart {
namespace {

HostRanges& ranges() {
    static auto& all = *new HostRanges;
    return all;
}

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t whole_pages(std::size_t bytes) {
    constexpr std::size_t page = device::address_space::page_bytes;
    return (bytes + page - 1) / page * page;
}

cudaError_t map_at(std::uint64_t address, std::size_t bytes, const device::Descriptor& file) {
    void* wanted = reinterpret_cast<void*>(address);
    const void* got =
        ::mmap(wanted, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file.get(), 0);
    if (got == wanted) return cudaSuccess;
    std::fprintf(stderr, "warpgrade: cannot map %zu bytes of memory shared with the device\n", bytes);
    return cudaErrorMemoryAllocation;
}

}  // namespace

HostRanges::value_type* find_host_range(const void* pointer) {
    auto after = ranges().upper_bound(address_of(pointer));
    if (after == ranges().begin()) return nullptr;
    --after;
    return address_of(pointer) - after->first < after->second.bytes ? &*after : nullptr;
}

bool is_pinned(const void* pointer, std::size_t bytes) {
    const auto* range = find_host_range(pointer);
    return range != nullptr && range->second.kind != HostRange::Kind::managed &&
           bytes <= range->second.bytes - (address_of(pointer) - range->first);
}

bool is_managed(const void* pointer) {
    const auto* range = find_host_range(pointer);
    return range != nullptr && range->second.kind == HostRange::Kind::managed;
}

cudaError_t allocate_host_range(std::size_t bytes, HostRange::Kind kind, unsigned flags, const char* origin,
                                void** pointer) {
    Connection& connection = Connection::get();
    std::vector<std::byte> results;
    device::Descriptor file;
    std::uint64_t address = 0;
    Writer request;
    request.put(std::uint64_t{bytes}).put(std::uint64_t{0}).put_string(origin);
    cudaError_t status = connection.call_for_file(Op::allocate_host, request, results, file);
    if (status != cudaSuccess) return status;
    status = connection.take(results, [&](Reader& reader) { address = reader.get<std::uint64_t>(); });
    if (status != cudaSuccess) return status;
    if (status = map_at(address, bytes, file); status != cudaSuccess) {
        connection.call(Op::free_memory, Writer().put(address));
        return status;
    }
    HostRange range;
    range.bytes = bytes, range.kind = kind, range.flags = flags;
    ranges()[address] = range;
    *pointer = reinterpret_cast<void*>(address);
    return cudaSuccess;
}

cudaError_t free_host_range(void* pointer, HostRange::Kind kind) {
    const auto found = ranges().find(address_of(pointer));
    if (found == ranges().end() || found->second.kind != kind) {
        Connection::get().call(Op::refused_free, Writer().put(std::uint64_t{address_of(pointer)}));
        return cudaErrorInvalidValue;
    }
    const cudaError_t status =
        Connection::get().call(Op::free_memory, Writer().put(std::uint64_t{address_of(pointer)}));
    if (status != cudaSuccess) return status;
    ::munmap(pointer, whole_pages(found->second.bytes));
    ranges().erase(found);
    return cudaSuccess;
}

cudaError_t map_managed_variable(std::uint32_t module, const char* name, void** pointer, std::size_t& bytes) {
    Connection& connection = Connection::get();
    std::vector<std::byte> results;
    device::Descriptor file;
    std::uint64_t address = 0;
    cudaError_t status =
        connection.call_for_file(Op::share_symbol, Writer().put(module).put_string(name), results, file);
    if (status != cudaSuccess) return status;
    status = connection.take(results, [&](Reader& reader) {
        address = reader.get<std::uint64_t>();
        bytes = reader.get<std::uint64_t>();
    });
    if (status != cudaSuccess) return status;
    if (status = map_at(address, bytes, file); status != cudaSuccess) return status;
    HostRange range;
    range.bytes = bytes, range.kind = HostRange::Kind::managed, range.flags = cudaMemAttachGlobal;
    ranges()[address] = range;
    *pointer = reinterpret_cast<void*>(address);
    return cudaSuccess;
}

void forget_host_ranges() {
    for (const auto& [address, range] : ranges())
        if (range.kind != HostRange::Kind::registered)
            ::munmap(reinterpret_cast<void*>(address), whole_pages(range.bytes));
    ranges().clear();
    forget_shared_pages();
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection&) -> cudaError_t {
        constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if (pointer == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
        *pointer = nullptr;
        if (bytes == 0) return cudaSuccess;
        return allocate_host_range(bytes, HostRange::Kind::page_locked, flags, "cudaHostAlloc", pointer);
    });
}

cudaError_t CUDARTAPI cudaMallocHost(void** pointer, std::size_t bytes) {
    const CallSite site;
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void* pointer) {
    const CallSite site;
    return device_api([&](Connection&) {
        return pointer == nullptr ? cudaSuccess : free_host_range(pointer, HostRange::Kind::page_locked);
    });
}

cudaError_t CUDARTAPI cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection& connection) -> cudaError_t {
        constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
        if ((flags & cudaHostRegisterIoMemory) != 0) return not_supported("cudaHostRegisterIoMemory");
        if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) return cudaErrorInvalidValue;
        if (bytes > UINTPTR_MAX - address_of(pointer)) return cudaErrorInvalidValue;
        // It is enough to look for an overlap with the last range that begins before its end.
        auto after = ranges().lower_bound(address_of(pointer) + bytes);
        if (after != ranges().begin() && (--after)->first + after->second.bytes > address_of(pointer))
            return cudaErrorHostMemoryAlreadyRegistered;
        if (const cudaError_t status = share_pages(address_of(pointer), bytes); status != cudaSuccess) return status;
        HostRange range;
        range.bytes = bytes, range.kind = HostRange::Kind::registered, range.flags = flags;
        ranges()[address_of(pointer)] = range;
        return connection.call(Op::register_host,
                               Writer().put(std::uint64_t{bytes}).put(std::uint64_t{address_of(pointer)}));
    });
}

cudaError_t CUDARTAPI cudaHostUnregister(void* pointer) {
    const CallSite site;
    return device_api([&](Connection& connection) -> cudaError_t {
        const auto found = ranges().find(address_of(pointer));
        if (found == ranges().end() || found->second.kind != HostRange::Kind::registered)
            return pointer == nullptr ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered;
        const std::size_t bytes = found->second.bytes;
        ranges().erase(found);
        connection.call(Op::unregister_host, Writer().put(std::uint64_t{address_of(pointer)}));
        return release_pages(address_of(pointer), bytes);
    });
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection& connection) {
        if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
        if (!is_pinned(host)) {
            // Managed memory has a device address, but this function does not give it.
            if (host != nullptr && !is_managed(host))
                connection.call(Op::unmapped_host, Writer().put(std::uint64_t{address_of(host)}));
            return cudaErrorInvalidValue;
        }
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int* flags, void* host) {
    return device_api([&](Connection&) {
        const auto* range = find_host_range(host);
        if (flags == nullptr || range == nullptr || range->second.kind == HostRange::Kind::managed)
            return cudaErrorInvalidValue;
        // With unified addressing all page-locked memory is mapped.
        *flags = range->second.flags | cudaHostAllocMapped;
        return cudaSuccess;
    });
}
