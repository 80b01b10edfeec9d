#include "vgpu/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "device/address_space.hpp"
#include "device/device.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;

HostPages::HostPages(std::uint64_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw DeviceError(error::memory_allocation, "the host has no memory left for the virtual GPU");
    data_ = static_cast<std::byte*>(p);
}

HostPages::~HostPages() {
    if (data_) munmap(data_, bytes_);
}

HostPages::HostPages(HostPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HostPages& HostPages::operator=(HostPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

void HostPages::reset() {
    if (data_) madvise(data_, bytes_, MADV_DONTNEED);
}

namespace {
constexpr std::uint64_t gap = 4096;  // unmapped addresses between two allocations
constexpr int fresh_pattern = 0xCD;
}  // namespace

Allocation& GlobalMemory::allocate(std::uint64_t bytes, std::string_view origin, std::uint64_t align) {
    if (bytes > limit_bytes_ || used_bytes_ > limit_bytes_ - bytes)
        throw DeviceError(
            error::memory_allocation,
            fmt::format("out of device memory: {} bytes asked for, {} of {} in use", bytes, used_bytes_, limit_bytes_));
    auto allocation = std::make_unique<Allocation>();
    const std::uint64_t base = (device::address_space::global_base + next_ + gap + align - 1) / align * align;
    if (base + bytes + gap > device::address_space::global_end)
        throw DeviceError(error::memory_allocation, "the device's address space is used up");
    allocation->pages = HostPages(bytes);
    allocation->host = allocation->pages.data();
    allocation->base = base;
    allocation->bytes = bytes;
    allocation->origin = origin;
    if (bytes) std::memset(allocation->host, fresh_pattern, bytes);
    next_ = base + bytes - device::address_space::global_base;
    used_bytes_ += bytes;
    return *live_.emplace(base, std::move(allocation)).first->second;
}

void GlobalMemory::free(std::uint64_t address) {
    const auto it = live_.find(address);
    if (it == live_.end() || it->second->is_variable) {
        const std::string where = freed_.contains(address) ? "it was freed before" : describe(address);
        throw DeviceError(error::invalid_value, fmt::format("cudaFree of {:#x}: {}", address, where));
    }
    release(*it->second);
}

void GlobalMemory::release(Allocation& allocation) {
    used_bytes_ -= allocation.bytes;
    freed_.emplace(allocation.base, allocation.bytes);
    live_.erase(allocation.base);
}

Allocation* GlobalMemory::find(std::uint64_t address) const {
    auto it = live_.upper_bound(address);
    if (it == live_.begin()) return nullptr;
    --it;
    Allocation& a = *it->second;
    return address < a.end() || (a.bytes == 0 && address == a.base) ? &a : nullptr;
}

std::byte* GlobalMemory::checked(std::uint64_t address, std::uint64_t size, const char* what) const {
    Allocation* a = find(address);
    if (!a)
        throw DeviceError(error::invalid_value,
                          fmt::format("{}: {:#x} is not device memory: {}", what, address, describe(address)));
    if (!a->holds(address, size))
        throw DeviceError(error::invalid_value,
                          fmt::format("{}: {} bytes at offset {} reach beyond the {}-byte allocation", what, size,
                                      address - a->base, a->bytes));
    return a->at(address);
}

std::string GlobalMemory::describe(std::uint64_t address) const {
    namespace space = device::address_space;
    if (Allocation* inside = find(address))
        return fmt::format("offset {} of the {}-byte allocation at {:#x} ({})", address - inside->base, inside->bytes,
                           inside->base, inside->origin);
    if (address < 65536) return "a null pointer";
    if (address < space::global_base || address >= space::global_end)
        return space::is_device_address(address) ? "not an address of global memory" : "a host address";
    if (auto f = freed_.upper_bound(address); f != freed_.begin()) {
        --f;
        if (address < f->first + f->second)
            return fmt::format("offset {} of a {}-byte allocation that was freed", address - f->first, f->second);
    }
    auto after = live_.upper_bound(address);
    const Allocation* before = after == live_.begin() ? nullptr : std::prev(after)->second.get();
    const std::uint64_t past = before ? address - before->end() : ~0ULL;
    const std::uint64_t ahead = after == live_.end() ? ~0ULL : after->first - address;
    if (!before && after == live_.end()) return "nothing is allocated";
    if (past <= ahead)
        return fmt::format("{} bytes past the end of the {}-byte allocation at {:#x} ({})", past, before->bytes,
                           before->base, before->origin);
    const Allocation& next = *after->second;
    return fmt::format("{} bytes before the {}-byte allocation at {:#x} ({})", ahead, next.bytes, next.base,
                       next.origin);
}

}  // namespace warpgrade::vgpu
