// Work for a stream as data: run at once, or kept in a graph and run at each launch of the graph.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "cudart/state/registry.hpp"

namespace warpgrade::cudart {

struct KernelWork {
    const void* function = nullptr;  // as the program named it
    Kernel* kernel = nullptr;
    dim3 grid, block;
    std::size_t shared_bytes = 0;
    bool cooperative = false;
    std::vector<std::byte> arguments;  // in the layout of FunctionInfo::params
    std::vector<void*> pointers;       // to each argument, for cudaGraphKernelNodeGetParams

    // Copies the arguments behind the pointers.
    cudaError_t take_arguments(void* const* from);
    void point_to_arguments();
};

struct HostWork {
    cudaHostFn_t function = nullptr;
    void* data = nullptr;
};

struct EventWork {
    cudaEvent_t event = nullptr;
    bool wait = false;  // else record
};

// Memory of a graph.
struct AllocationWork {
    cudaMemAllocNodeParams parameters{};
};

struct FreeWork {
    void* pointer = nullptr;
};

struct EmptyWork {};

// cudaMemcpy3DParms is for all copies, cudaMemsetParams for all fills, cudaGraph_t for a child graph.
using Work = std::variant<EmptyWork, KernelWork, cudaMemcpy3DParms, cudaMemsetParams, HostWork, EventWork, cudaGraph_t,
                          AllocationWork, FreeWork>;

cudaError_t send_launch(const KernelWork& work, std::uint32_t stream);
// Call it before a host function of the stream runs.
cudaError_t announce_host_function(std::uint32_t stream);

cudaMemcpy3DParms make_row_copy(void* destination, std::size_t destination_pitch, const void* source,
                                std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind);

}  // namespace warpgrade::cudart
