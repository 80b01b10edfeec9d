// Who gave a piece of memory, and so what frees it. The program's runtime tells the device server the name of the
// function that was called; from there on its kind counts.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrade::device {

enum class MemoryKind : std::uint8_t { device, array, managed, page_locked, registered, heap, managed_variable };

struct Allocator {
    MemoryKind kind;
    std::string_view call, freed_by;
};

// cudaMallocPitch, cudaMallocAsync and the like give memory as cudaMalloc does: what is not named here is such.
inline constexpr Allocator allocators[] = {
    {MemoryKind::device, "cudaMalloc", "cudaFree"},
    {MemoryKind::array, "cudaMallocArray", "cudaFreeArray"},
    {MemoryKind::managed, "cudaMallocManaged", "cudaFree"},
    {MemoryKind::page_locked, "cudaHostAlloc", "cudaFreeHost"},
    {MemoryKind::registered, "cudaHostRegister", "cudaHostUnregister"},
    {MemoryKind::heap, "malloc in a kernel", "free() in a kernel"},
};

constexpr MemoryKind kind_of_memory(std::string_view call) {
    for (const Allocator& row : allocators)
        if (row.call == call) return row.kind;
    return MemoryKind::device;
}

constexpr std::string_view freed_by(MemoryKind kind) {
    for (const Allocator& row : allocators)
        if (row.kind == kind) return row.freed_by;
    return {};  // variables live as long as the program
}

}  // namespace warpgrade::device
