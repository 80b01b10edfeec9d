// Which function allocated memory, and therefore which one frees it. The program's runtime sends the device server the
// name of the CUDA function; the server keeps the kind.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrade::device {

enum class MemoryKind : std::uint8_t { device, array, managed, page_locked, registered, heap, managed_variable };

struct Allocator {
    MemoryKind kind;
    std::string_view call, freed_by;
};

// Functions that are not in this list, such as cudaMallocPitch and cudaMallocAsync, allocate memory as cudaMalloc does.
inline constexpr Allocator allocators[] = {
    {MemoryKind::device, "cudaMalloc", "cudaFree"},
    {MemoryKind::array, "cudaMallocArray", "cudaFreeArray"},
    {MemoryKind::managed, "cudaMallocManaged", "cudaFree"},
    {MemoryKind::page_locked, "cudaHostAlloc", "cudaFreeHost"},
    {MemoryKind::registered, "cudaHostRegister", "cudaHostUnregister"},
    {MemoryKind::heap, "malloc in a kernel", "free() in a kernel"},
};

constexpr MemoryKind memory_kind_of(std::string_view call) {
    for (const Allocator& row : allocators)
        if (row.call == call) return row.kind;
    return MemoryKind::device;
}

constexpr std::string_view free_function(MemoryKind kind) {
    for (const Allocator& row : allocators)
        if (row.kind == kind) return row.freed_by;
    return {};  // variables live as long as the program
}

}  // namespace warpgrade::device
