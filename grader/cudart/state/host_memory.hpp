// Memory that host and device share: page-locked, registered and managed. The device server makes it; the program maps
// it at the same address, so that one pointer serves both and what one side writes the other reads.
#pragma once

#include <cstdint>
#include <map>

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

struct HostRange {
    enum class Kind : std::uint8_t { page_locked, registered, managed };
    std::size_t bytes = 0;
    Kind kind = Kind::page_locked;
    unsigned flags = 0;  // that it was allocated or registered with
    // What cudaMemAdvise and cudaMemPrefetchAsync said last. Hints: nothing depends on them.
    bool read_mostly = false;
    cudaMemLocation preferred{cudaMemLocationTypeInvalid, 0}, prefetched{cudaMemLocationTypeInvalid, 0};
    std::uint32_t accessed_by_device = 0, accessed_by_host = 0;
};

using HostRanges = std::map<std::uintptr_t, HostRange>;  // by their first byte

// The range that holds the address, or null.
HostRanges::value_type* find_host_range(const void* pointer);
// Page-locked or registered.
bool is_pinned(const void* pointer, std::size_t bytes = 1);
bool is_managed(const void* pointer);

// Is it a place that memory can be at: the host, or the one device?
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

// Maps a new piece of host-visible memory.
cudaError_t allocate_host_range(std::size_t bytes, HostRange::Kind kind, unsigned flags, const char* origin,
                                void** pointer);
// Frees one that begins there.
cudaError_t free_host_range(void* pointer, HostRange::Kind kind);
// Maps a __managed__ variable.
cudaError_t map_managed_variable(std::uint32_t module, const char* name, void** pointer, std::size_t& bytes);

// The context was reset: what it had allocated is gone. Registered memory stays where it is, as the program's own.
void forget_host_ranges();

}  // namespace warpgrade::cudart
