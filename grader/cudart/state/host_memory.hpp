// Host-visible memory: page-locked, registered and managed. The device server allocates it and the program maps it at
// the same address, so that both can use the same pointers.
#pragma once

#include <cstdint>
#include <map>

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

struct HostRange {
    enum class Kind : std::uint8_t { page_locked, registered, managed };
    std::size_t bytes = 0;
    Kind kind = Kind::page_locked;
    unsigned flags = 0;  // of the allocation or registration
    // The last hints of cudaMemAdvise and cudaMemPrefetchAsync, which have no effect.
    bool read_mostly = false;
    cudaMemLocation preferred{cudaMemLocationTypeInvalid, 0}, prefetched{cudaMemLocationTypeInvalid, 0};
    std::uint32_t accessed_by_device = 0, accessed_by_host = 0;
};

using HostRanges = std::map<std::uintptr_t, HostRange>;  // by first byte

// The range with the address, or null.
HostRanges::value_type* find_host_range(const void* pointer);
// True for page-locked and registered memory.
bool is_pinned(const void* pointer, std::size_t bytes = 1);
bool is_managed(const void* pointer);

// True for the host and for device 0.
inline bool is_place(const cudaMemLocation& location) {
    switch (location.type) {
        case cudaMemLocationTypeDevice:
            return location.id == 0;
        case cudaMemLocationTypeHost:
        case cudaMemLocationTypeHostNuma:
        case cudaMemLocationTypeHostNumaCurrent:
            return true;
        default:
            return false;
    }
}

cudaError_t allocate_host_range(std::size_t bytes, HostRange::Kind kind, unsigned flags, const char* origin,
                                void** pointer);
// `pointer` must be the start of a range.
cudaError_t free_host_range(void* pointer, HostRange::Kind kind);
cudaError_t map_managed_variable(std::uint32_t module, const char* name, void** pointer, std::size_t& bytes);

// After a reset of the context: unmaps everything except registered memory, which belongs to the program.
void forget_host_ranges();

}  // namespace warpgrade::cudart
