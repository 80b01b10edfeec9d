#include "gpu/device_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "device/address_space.hpp"
#include "device/fresh_memory.hpp"
#include "device/sealed_file.hpp"
#include "gpu/driver.hpp"

namespace warpgrade::gpu {

using device::DeviceError;
using device::DevicePtr;
namespace error = device::error;
namespace space = device::address_space;

namespace {

constexpr std::uint64_t alignment = 512;                    // of allocations, as cudaMalloc's
constexpr std::uint64_t chunk = std::uint64_t{64} << 20;    // of physical memory
constexpr std::uint64_t host_gap = 16 * space::page_bytes;  // unmapped, between two host-visible allocations

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

void* host_pointer(DevicePtr address) { return reinterpret_cast<void*>(address); }

}  // namespace

DeviceMemory::DeviceMemory(CUdevice gpu, std::uint64_t limit_bytes)
    : limit_(std::min(limit_bytes, (space::global_end - space::global_base) / 4)), next_host_(space::host_base) {
    const Driver& cuda = driver();
    kind_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind_.location = {CU_MEM_LOCATION_TYPE_DEVICE, {gpu}};
    std::size_t granularity = 0;
    check(cuda.cuMemGetAllocationGranularity(&granularity, &kind_, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "the GPU's units of memory");
    granularity_ = granularity;
    // Twice the limit, for what lies unused between allocations.
    reserved_ = round_up(2 * limit_, chunk);
    CUdeviceptr base = 0;
    check(cuda.cuMemAddressReserve(&base, reserved_, 0, space::global_base, 0), "addresses of device memory");
    base_ = base;
    if (base_ != space::global_base) {
        cuda.cuMemAddressFree(base_, reserved_);
        throw std::runtime_error("the GPU's driver does not give this program the addresses that it needs");
    }
}

DeviceMemory::~DeviceMemory() {
    const Driver& cuda = driver();
    for (const auto& [address, range] : ranges_) {
        if (range.home != Home::host) continue;
        cuda.cuMemHostUnregister(host_pointer(address));
        ::munmap(host_pointer(address), range.room);
    }
    if (mapped_ > 0) cuda.cuMemUnmap(base_, mapped_);
    cuda.cuMemAddressFree(base_, reserved_);
}

void DeviceMemory::grow(std::uint64_t bytes) {
    const Driver& cuda = driver();
    const std::uint64_t more = round_up(std::max(bytes, std::min(chunk, limit_)), granularity_);
    if (mapped_ + more > reserved_)
        throw DeviceError(error::memory_allocation, "device memory is in too many pieces for this allocation");
    CUmemGenericAllocationHandle pages = 0;
    check(cuda.cuMemCreate(&pages, more, &kind_, 0), fmt::format("{} more bytes of device memory", more));
    const CUresult mapped = cuda.cuMemMap(base_ + mapped_, more, 0, pages, 0);
    cuda.cuMemRelease(pages);  // the mapping keeps it
    check(mapped, "mapping device memory");
    mapped_ += more;
    const CUmemAccessDesc access{kind_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    check(cuda.cuMemSetAccess(base_ + mapped_ - more, more, &access, 1), "access to device memory");
    add_free(base_ + mapped_ - more, more);
}

DevicePtr DeviceMemory::take_free(std::uint64_t room) {
    const auto found = std::ranges::find_if(free_, [&](const auto& piece) { return piece.second >= room; });
    if (found == free_.end()) return 0;
    const auto [address, bytes] = *found;
    free_.erase(found);
    if (bytes > room) free_[address + room] = bytes - room;
    return address;
}

void DeviceMemory::add_free(DevicePtr address, std::uint64_t bytes) {
    auto next = free_.upper_bound(address);
    if (next != free_.end() && address + bytes == next->first) bytes += next->second, next = free_.erase(next);
    if (next != free_.begin())
        if (const auto before = std::prev(next); before->first + before->second == address) {
            before->second += bytes;
            return;
        }
    free_[address] = bytes;
}

DevicePtr DeviceMemory::allocate(std::uint64_t bytes) {
    if (bytes > limit_ || used_ > limit_ - bytes)
        throw DeviceError(
            error::memory_allocation,
            fmt::format("out of device memory: {} bytes requested, {} of {} in use", bytes, used_, limit_));
    const std::uint64_t room = round_up(bytes + 1, alignment);  // so that no two touch
    DevicePtr address = take_free(room);
    if (address == 0) {
        grow(room);
        address = take_free(room);
    }
    ranges_[address] = {bytes, room, Home::device};
    used_ += bytes;
    return address;
}

device::HostVisibleMemory DeviceMemory::allocate_host_visible(std::uint64_t bytes, DevicePtr at) {
    if (bytes > limit_ || used_on_host_ > limit_ - bytes)
        throw DeviceError(error::memory_allocation,
                          fmt::format("out of page-locked and managed memory: {} bytes requested, {} of {} in use",
                                      bytes, used_on_host_, limit_));
    const std::uint64_t room = round_up(bytes, space::page_bytes);
    const DevicePtr address = at ? at : next_host_ + host_gap;
    if (!at && address + room > space::host_end)
        throw DeviceError(error::memory_allocation, "the address space of page-locked memory is used up");
    device::Descriptor file = device::sealed_file(room);
    // Memory that the program registers may lie where this process has something else.
    void* const pages =
        ::mmap(host_pointer(address), room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file.get(), 0);
    if (pages == MAP_FAILED)
        throw DeviceError(error::not_supported,
                          fmt::format("memory of the program at {:#x} cannot be shared with the GPU: that address is "
                                      "taken; allocate it with cudaMallocHost",
                                      address));
    std::memset(pages, device::fresh_byte, bytes);
    const CUresult registered = driver().cuMemHostRegister(pages, room, CU_MEMHOSTREGISTER_DEVICEMAP);
    if (registered != CUDA_SUCCESS) ::munmap(pages, room);
    check(registered, fmt::format("{} bytes of page-locked memory", bytes));
    ranges_[address] = {bytes, room, Home::host};
    used_on_host_ += bytes;
    if (!at) next_host_ = address + room;
    return {address, bytes, std::move(file)};
}

void DeviceMemory::add_variable(const device::SymbolInfo& variable) {
    ranges_[variable.address] = {variable.bytes, variable.bytes, Home::module};
}

void DeviceMemory::free(DevicePtr address) {
    const auto found = ranges_.find(address);
    if (found == ranges_.end() || found->second.home == Home::module)
        throw DeviceError(error::invalid_value, fmt::format("{:#x} is not the start of an allocation", address));
    const Range range = found->second;
    ranges_.erase(found);
    if (range.home == Home::device) {
        used_ -= range.bytes;
        add_free(address, range.room);
        return;
    }
    used_on_host_ -= range.bytes;
    driver().cuMemHostUnregister(host_pointer(address));
    ::munmap(host_pointer(address), range.room);
}

std::map<DevicePtr, DeviceMemory::Range>::const_iterator DeviceMemory::holder(DevicePtr address) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return ranges_.end();
    const auto found = std::prev(after);
    return address - found->first < found->second.bytes ? found : ranges_.end();
}

std::optional<device::SymbolInfo> DeviceMemory::find(DevicePtr address) const {
    const auto found = holder(address);
    if (found == ranges_.end()) return std::nullopt;
    return device::SymbolInfo{found->first, found->second.bytes};
}

bool DeviceMemory::lies_on_host(DevicePtr address) const {
    const auto found = holder(address);
    return found != ranges_.end() && found->second.home == Home::host;
}

void DeviceMemory::require(DevicePtr address, std::uint64_t bytes, const char* what) const {
    const auto found = holder(address);
    if (found == ranges_.end() || bytes > found->second.bytes - (address - found->first))
        throw DeviceError(error::invalid_value,
                          fmt::format("{}: {} bytes at {:#x} do not lie in one allocation", what, bytes, address));
}

}  // namespace warpgrade::gpu
