// Global memory of the virtual GPU: allocations with bounds, addresses that are never reused, and what a launch needs
// to know of each allocation to run its blocks in parallel without changing the result (see state/launch_track.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/analysis.hpp"
#include "device/descriptor.hpp"
#include "vgpu/memory/defined.hpp"
#include "vgpu/memory/host_copy.hpp"
#include "vgpu/memory/host_pages.hpp"
#include "vgpu/memory/last_writer.hpp"

namespace warpgrade::vgpu {

// Plain bytes aligned to a cache line.
struct AlignedDelete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;
inline AlignedBytes aligned_bytes(std::size_t bytes) {
    return AlignedBytes(static_cast<std::byte*>(::operator new[](bytes ? bytes : 1, std::align_val_t{64})));
}

struct LaunchTrack;

struct Allocation {
    std::uint64_t base = 0, bytes = 0;
    std::byte* host = nullptr;
    HostPages pages;
    device::Descriptor file;  // of memory that the worker maps, until it is passed to the worker
    std::string origin;       // "cudaMalloc", or the kind of a module variable and its PTX name
    device::MemoryKind kind = device::MemoryKind::device;
    std::uint64_t code = 0;  // the call in the program that allocated it (device::SourcePlace)
    std::string variable;    // readable name of a module variable
    bool read_only = false;  // a __constant__ variable
    bool never_set = false;  // one without an initial value that the host has not written
    bool is_variable = false;
    std::unique_ptr<DefinedBytes> defined;  // its written bytes; nullptr if all are defined or no check asks
    // Where undefined bytes that the host copied here come from, by the first offset of each copy.
    struct Copied {
        std::uint64_t bytes = 0, from = 0, code = 0;
    };
    std::map<std::uint64_t, Copied> copied;
    std::unique_ptr<LastWriter> writers;  // nullptr if the origin of outputs is not wanted
    std::unique_ptr<HostCopy> host_copy;  // of memory that the worker maps, if the origin of outputs is wanted
    bool on_heap = false;                 // an object from malloc in a kernel; its bytes belong to the heap
    // Mapped memory stays on the host, and every access crosses the link. Managed memory crosses it when a launch first
    // touches it.
    enum class Home : std::uint8_t { Device, Mapped, Managed } home = Home::Device;

    std::uint64_t version = 0;  // another one whenever its bytes may have changed; no other allocation ever has it

    // How the running launch has accessed it (Touch bits).
    enum Touch : std::uint8_t { Read = 1, Written = 2, Tracked = 4, Updated = 8 };  // Updated: by atomics
    std::atomic<std::uint8_t> touched{0};
    std::atomic<LaunchTrack*> track{nullptr};  // what a parallel launch remembers of it; see state/launch_track.hpp

    [[nodiscard]] std::uint64_t end() const { return base + bytes; }
    // The copy that brought an undefined byte here, or nullptr.
    [[nodiscard]] const std::pair<const std::uint64_t, Copied>* copied_to(std::uint64_t address) const {
        const auto after = copied.upper_bound(address - base);
        if (after == copied.begin()) return nullptr;
        const auto& last = *std::prev(after);
        return address - base - last.first < last.second.bytes ? &last : nullptr;
    }
    [[nodiscard]] std::byte* at(std::uint64_t address) const { return host + (address - base); }
    [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t size) const {
        return address >= base && size <= bytes && address - base <= bytes - size;
    }
};

class GlobalMemory {
  public:
    // `note_undefined`: track which bytes of the device's own memory have been written.
    // `note_origin`: track the last writer of each word, and keep a copy of memory that the host maps (host_copy.hpp).
    explicit GlobalMemory(std::uint64_t limit_bytes, bool note_undefined = false, bool note_origin = false)
        : limit_bytes_(limit_bytes), note_undefined_(note_undefined), note_origin_(note_origin) {}

    // Fresh memory holds a fixed pattern, never zeros: a program that forgets to initialise it must not pass by luck.
    // Throws DeviceError(memory_allocation) if the limit would be exceeded.
    Allocation& allocate(std::uint64_t bytes, const device::AllocationOrigin& origin, std::uint64_t align = 256) {
        return allocate(bytes, origin, align, true);
    }
    // A variable of a module, zero unless the program initialises it. It takes memory of the host only as it is used.
    Allocation& allocate_zeroed(std::uint64_t bytes, const device::AllocationOrigin& origin, std::uint64_t align) {
        return allocate(bytes, origin, align, false);
    }
    // The same at an address that allocate() has given out before, and that is free now.
    Allocation& allocate_at(std::uint64_t base, std::uint64_t bytes, const device::AllocationOrigin& origin);
    // Memory that the host process maps too, at a new address or at `at`.
    Allocation& allocate_host_visible(std::uint64_t bytes, std::uint64_t at, const device::AllocationOrigin& origin);
    // An object from malloc in a kernel: a new address for bytes inside the heap.
    Allocation& place_on_heap(std::uint64_t bytes, std::byte* host);
    // Throws a DeviceError that says what an invalid address is (freed before, inside an allocation, never allocated).
    void free(std::uint64_t address, std::uint64_t code = 0);
    void release(Allocation& allocation, std::uint64_t code = 0);  // also for variables of a module that is unloaded

    [[nodiscard]] Allocation* find(std::uint64_t address) const;
    // The live allocation whose end before the address, or beginning after it, is nearest.
    [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;
    // The bytes at [address, address+size). Throws a DeviceError(invalid_value) that says what is there instead.
    [[nodiscard]] std::byte* checked(std::uint64_t address, std::uint64_t size, const char* what) const;
    // "8 bytes past the end of the 1024-byte allocation at 0x…", for messages.
    [[nodiscard]] std::string describe(std::uint64_t address) const;
    // The memory that describe() refers to, for diagnostics: the live or freed allocation at the address, else the
    // nearest.
    [[nodiscard]] std::optional<device::MemoryPlace> place_of(std::uint64_t address) const;
    // The live or freed allocation that contains the address.
    [[nodiscard]] std::optional<device::FoundMemory> known(std::uint64_t address) const;

    // The host has written these bytes, or copied them on the device. They are all in one allocation.
    void define(std::uint64_t address, std::uint64_t size);
    void copy_definition(std::uint64_t to, std::uint64_t from, std::uint64_t size, std::uint64_t code);
    // `who` has written these bytes: updates LastWriter and the program's view of host-visible memory.
    void written_by(std::uint64_t address, std::uint64_t size, device::WriterTag who);
    void copy_writers(std::uint64_t to, std::uint64_t from, std::uint64_t size);
    void note_change(Allocation& allocation) { allocation.version = ++last_version_; }
    // Called before an operation that accesses this address: takes over what host code has written there.
    void take_from_host(std::uint64_t address);

    [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
    [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_; }
    template <class F>
    void for_each(F&& f) {
        for (auto& [base, allocation] : live_) f(*allocation);
    }

  private:
    std::map<std::uint64_t, std::unique_ptr<Allocation>> live_;
    // The last freed allocations. Addresses are not reused, except those that the host chooses.
    static constexpr std::size_t max_freed = 65536;
    std::map<std::uint64_t, device::FoundMemory> freed_;  // by base
    [[nodiscard]] const device::FoundMemory* find_freed(std::uint64_t address) const;
    Allocation& allocate(std::uint64_t bytes, const device::AllocationOrigin& origin, std::uint64_t align, bool fill);
    void check_limit(std::uint64_t bytes) const;
    Allocation& place(std::uint64_t base, std::uint64_t bytes, const device::AllocationOrigin& origin, bool fill);
    Allocation& insert(std::uint64_t base, std::uint64_t bytes, HostPages pages, const device::AllocationOrigin& origin,
                       bool fill);

    std::uint64_t next_ = 0, next_host_ = 0, last_version_ = 0;
    std::uint64_t used_bytes_ = 0, limit_bytes_;
    bool note_undefined_, note_origin_;
    std::uint64_t used_host_bytes_ = 0;  // host memory: not part of the device's, but limited too
};

}  // namespace warpgrade::vgpu
