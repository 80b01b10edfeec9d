// Memory pools for stream-ordered allocation. They only count bytes: the device allocates and frees memory at once, so
// they cache nothing.
#pragma once

#include <cstdint>

#include "cudart/client/connection.hpp"

struct CUmemPoolHandle_st {
    int reuse_follow_events = 1, reuse_opportunistic = 1, reuse_internal_dependencies = 1;
    std::uint64_t release_threshold = 0;
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};

namespace warpgrade::cudart {

// The pool of cudaMallocAsync.
cudaMemPool_t current_pool();
bool is_pool(cudaMemPool_t pool);
cudaError_t allocate_from(cudaMemPool_t pool, std::size_t bytes, void** pointer);
// Memory of graphs: allocated at an address of its own by each launch, until something frees it.
cudaError_t reserve_for_graph(std::size_t bytes, const char* origin, void** pointer);
bool is_reserved(const void* pointer);
cudaError_t allocate_reserved(void* pointer);
bool is_allocated(const void* pointer);

// What a real device keeps for graphs: memory that they free stays until cudaDeviceGraphMemTrim.
struct GraphMemory {
    std::uint64_t used = 0, used_high = 0, reserved_high = 0;
    [[nodiscard]] std::uint64_t reserved() const;
    void grow(std::uint64_t live);
};
GraphMemory& graph_memory();

// To be called for every free, whichever function frees.
void record_free(const void* pointer);
void forget_pools();

}  // namespace warpgrade::cudart
