#include "vgpu/memory/memory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <utility>

#include "device/address_space.hpp"
#include "device/fresh_memory.hpp"
#include "device/sealed_file.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;

namespace {
constexpr std::uint64_t gap = 4096;  // unmapped addresses between two allocations

// The maximum number of copies of undefined values into one allocation that are remembered separately.
constexpr std::size_t max_copied = 4096;

device::MemoryPlace place_of_live(const Allocation& a) {
    device::MemoryPlace place;
    place.variable = !a.variable.empty();
    place.name = place.variable ? a.variable : a.origin;
    place.bytes = a.bytes;
    place.allocated.code = a.code;
    place.kind = a.kind;
    return place;
}
}  // namespace

void GlobalMemory::check_limit(std::uint64_t bytes) const {
    if (bytes > limit_bytes_ || used_bytes_ > limit_bytes_ - bytes)
        throw DeviceError(
            error::memory_allocation,
            fmt::format("out of device memory: {} bytes requested, {} of {} in use", bytes, used_bytes_, limit_bytes_));
}

Allocation& GlobalMemory::place(std::uint64_t base, std::uint64_t bytes, const device::AllocationOrigin& origin,
                                bool fill) {
    Allocation& result = insert(base, bytes, HostPages(bytes), origin, fill);
    if (note_undefined_) result.defined = std::make_unique<DefinedBytes>(bytes);
    used_bytes_ += bytes;
    return result;
}

Allocation& GlobalMemory::allocate_at(std::uint64_t base, std::uint64_t bytes, const device::AllocationOrigin& origin) {
    check_limit(bytes);
    const std::uint64_t begin = device::address_space::global_base, given = next_;
    const auto after = live_.upper_bound(base);
    const bool free_before = after == live_.begin() || std::prev(after)->second->end() <= base;
    if (base < begin || base - begin > given || bytes > given - (base - begin) || !free_before ||
        (after != live_.end() && after->first < base + bytes))
        throw DeviceError(error::invalid_value,
                          fmt::format("{}: the memory at {:#x} is still allocated", origin.call, base));
    freed_.erase(base);
    return place(base, bytes, origin, true);
}

Allocation& GlobalMemory::allocate(std::uint64_t bytes, const device::AllocationOrigin& origin, std::uint64_t align,
                                   bool fill) {
    check_limit(bytes);
    const std::uint64_t base = (device::address_space::global_base + next_ + gap + align - 1) / align * align;
    if (base + bytes + gap > device::address_space::global_end)
        throw DeviceError(error::memory_allocation, "the device's address space is used up");
    Allocation& result = place(base, bytes, origin, fill);
    next_ = base + bytes - device::address_space::global_base;
    return result;
}

Allocation& GlobalMemory::allocate_host_visible(std::uint64_t bytes, std::uint64_t at,
                                                const device::AllocationOrigin& origin) {
    namespace space = device::address_space;
    if (bytes > limit_bytes_ || used_host_bytes_ > limit_bytes_ - bytes)
        throw DeviceError(error::memory_allocation,
                          fmt::format("out of page-locked and managed memory: {} bytes requested, {} of {} in use",
                                      bytes, used_host_bytes_, limit_bytes_));
    const std::uint64_t whole = (bytes + space::page_bytes - 1) / space::page_bytes * space::page_bytes;
    const std::uint64_t base = at ? at : space::host_base + next_host_ + gap;
    if (!at && base + whole + gap > space::host_end)
        throw DeviceError(error::memory_allocation, "the address space of page-locked memory is used up");
    const auto after = live_.lower_bound(base);
    const bool free_before = after == live_.begin() || std::prev(after)->second->end() <= base;
    if (!free_before || (after != live_.end() && after->first < base + whole))
        throw DeviceError(error::invalid_value, fmt::format("{}: {:#x} is already shared", origin.call, base));
    device::Descriptor file = device::sealed_file(whole);
    HostPages pages(whole, file);
    // The module provides the initial contents of a managed variable.
    const bool managed_variable = origin.kind == device::MemoryKind::managed_variable;
    if (!managed_variable) std::memset(pages.data(), device::fresh_byte, bytes);
    HostPages own = note_origin_ ? HostPages(whole) : HostPages();
    Allocation& result =
        insert(base, bytes, std::move(note_origin_ ? own : pages), origin, note_origin_ && !managed_variable);
    if (note_origin_) result.host_copy = std::make_unique<HostCopy>(std::move(pages), result.host, bytes, at != 0);
    result.file = std::move(file);
    const bool managed = origin.kind == device::MemoryKind::managed || managed_variable;
    result.home = managed ? Allocation::Home::Managed : Allocation::Home::Mapped;
    if (!at) next_host_ = base + whole - space::host_base;
    used_host_bytes_ += bytes;
    return result;
}

Allocation& GlobalMemory::insert(std::uint64_t base, std::uint64_t bytes, HostPages pages,
                                 const device::AllocationOrigin& origin, bool fill) {
    auto allocation = std::make_unique<Allocation>();
    allocation->pages = std::move(pages);
    allocation->host = allocation->pages.data();
    allocation->base = base;
    allocation->bytes = bytes;
    allocation->origin = origin.call;
    allocation->kind = origin.kind;
    allocation->code = origin.code;
    if (fill && bytes) std::memset(allocation->host, device::fresh_byte, bytes);
    if (note_origin_) allocation->writers = std::make_unique<LastWriter>(bytes);
    note_change(*allocation);
    return *live_.emplace(base, std::move(allocation)).first->second;
}

Allocation& GlobalMemory::place_on_heap(std::uint64_t bytes, std::byte* host) {
    constexpr std::uint64_t align = 16;
    const std::uint64_t base = (device::address_space::global_base + next_ + gap + align - 1) / align * align;
    if (base + bytes + gap > device::address_space::global_end)
        throw DeviceError(error::memory_allocation, "the device's address space is used up");
    auto allocation = std::make_unique<Allocation>();
    allocation->host = host;
    allocation->base = base;
    allocation->bytes = bytes;
    allocation->origin = "malloc in a kernel";
    allocation->kind = device::MemoryKind::heap;
    allocation->on_heap = true;
    if (note_undefined_) allocation->defined = std::make_unique<DefinedBytes>(bytes);
    std::memset(host, device::fresh_byte, bytes);
    next_ = base + bytes - device::address_space::global_base;
    return *live_.emplace(base, std::move(allocation)).first->second;
}

void GlobalMemory::free(std::uint64_t address, std::uint64_t code) {
    const auto it = live_.find(address);
    if (it == live_.end() || it->second->is_variable || it->second->on_heap) {
        const std::string where = freed_.contains(address) ? "it was freed before" : describe(address);
        throw DeviceError(error::invalid_value, fmt::format("cudaFree of {:#x}: {}", address, where));
    }
    release(*it->second, code);
}

void GlobalMemory::release(Allocation& allocation, std::uint64_t code) {
    namespace space = device::address_space;
    const bool on_device = allocation.base >= space::global_base && allocation.base < space::global_end;
    if (!allocation.on_heap) (on_device ? used_bytes_ : used_host_bytes_) -= allocation.bytes;
    if (freed_.size() >= max_freed) freed_.erase(freed_.begin());
    device::FoundMemory& freed = freed_[allocation.base];
    freed = {place_of_live(allocation), allocation.base, true, {}};
    freed.freed_at.code = code;
    live_.erase(allocation.base);
}

void GlobalMemory::define(std::uint64_t address, std::uint64_t size) {
    Allocation* a = find(address);
    if (!a) return;
    a->never_set = false;
    if (a->defined) a->defined->define(address - a->base, size);
}

void GlobalMemory::copy_definition(std::uint64_t to, std::uint64_t from, std::uint64_t size, std::uint64_t code) {
    Allocation *target = find(to), *source = find(from);
    if (target) target->never_set = false;
    if (!target || !source || !target->defined) return;
    const bool complete = !source->defined || source->defined->all(from - source->base, size);
    target->defined->copy(to - target->base, source->defined.get(), from - source->base, size);
    const std::uint64_t begin = to - target->base;
    target->copied.erase(target->copied.lower_bound(begin), target->copied.lower_bound(begin + size));
    if (complete || target == source) return;
    // A copy of a copy counts as one from the place where the bytes were first.
    const auto* earlier = source->copied_to(from);
    if (earlier && from - source->base + size <= earlier->first + earlier->second.bytes)
        from = earlier->second.from + (from - source->base - earlier->first);
    if (target->copied.size() < max_copied) target->copied[begin] = {size, from, code};
}

void GlobalMemory::written_by(std::uint64_t address, std::uint64_t size, device::WriterTag who) {
    const Allocation* a = find(address);
    if (a && a->writers) {
        if (size == a->bytes)
            a->writers->note_all(who);
        else
            a->writers->note(address - a->base, size, who);
    }
    if (a && a->host_copy) a->host_copy->publish(address - a->base, size);
}

void GlobalMemory::copy_writers(std::uint64_t to, std::uint64_t from, std::uint64_t size) {
    const Allocation *target = find(to), *source = find(from);
    if (!target || !source || !target->writers || !source->writers) return;
    target->writers->copy(to - target->base, *source->writers, from - source->base, size);
    if (source->host_copy) source->host_copy->note_load(from - source->base, size);
    if (target->host_copy) target->host_copy->publish(to - target->base, size);
}

void GlobalMemory::take_from_host(std::uint64_t address) {
    const Allocation* a = find(address);
    if (a && a->host_copy) a->host_copy->fetch(*a->writers);
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
    if (a->on_heap)
        throw DeviceError(error::invalid_value,
                          fmt::format("{}: {:#x} comes from malloc in a kernel, which the host cannot access; a kernel "
                                      "can copy it to memory from cudaMalloc",
                                      what, address));
    if (!a->holds(address, size))
        throw DeviceError(error::invalid_value,
                          fmt::format("{}: {} bytes at offset {} reach past the end of the {}-byte allocation", what,
                                      size, address - a->base, a->bytes));
    return a->at(address);
}

std::string GlobalMemory::describe(std::uint64_t address) const {
    namespace space = device::address_space;
    if (Allocation* inside = find(address))
        return fmt::format("offset {} of the {}-byte allocation at {:#x} ({})", address - inside->base, inside->bytes,
                           inside->base, inside->origin);
    if (address < 65536) return "a null pointer";
    if (!space::is_global(address)) return "not an address of global memory";
    if (const auto* freed = find_freed(address))
        return fmt::format("offset {} of a {}-byte allocation that was freed", address - freed->base,
                           freed->place.bytes);
    if (address < space::global_base || address >= space::host_end)
        return "a host address that is neither page-locked nor managed memory";
    const Allocation* a = nearest(address);
    if (!a) return "nothing is allocated";
    if (a->base < address)
        return fmt::format("{} bytes past the end of the {}-byte allocation at {:#x} ({})", address - a->end(),
                           a->bytes, a->base, a->origin);
    return fmt::format("{} bytes before the {}-byte allocation at {:#x} ({})", a->base - address, a->bytes, a->base,
                       a->origin);
}

const device::FoundMemory* GlobalMemory::find_freed(std::uint64_t address) const {
    const auto after = freed_.upper_bound(address);
    if (after == freed_.begin()) return nullptr;
    const device::FoundMemory& freed = std::prev(after)->second;
    return address - freed.base < freed.place.bytes ? &freed : nullptr;
}

const Allocation* GlobalMemory::nearest(std::uint64_t address) const {
    const auto after = live_.upper_bound(address);
    const Allocation* before = after == live_.begin() ? nullptr : std::prev(after)->second.get();
    if (after == live_.end()) return before;
    const Allocation* next = after->second.get();
    return before && address - before->end() <= next->base - address ? before : next;
}

std::optional<device::FoundMemory> GlobalMemory::known(std::uint64_t address) const {
    if (const Allocation* a = find(address)) return device::FoundMemory{place_of_live(*a), a->base, false, {}};
    if (const auto* freed = find_freed(address)) return *freed;
    return std::nullopt;
}

std::optional<device::MemoryPlace> GlobalMemory::place_of(std::uint64_t address) const {
    namespace space = device::address_space;
    if (const auto memory = known(address)) return memory->place;
    if (address < space::global_base || address >= space::host_end) return std::nullopt;
    const Allocation* a = nearest(address);
    return a ? std::optional(place_of_live(*a)) : std::nullopt;
}

}  // namespace warpgrade::vgpu
