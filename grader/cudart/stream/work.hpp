// What can be put into a stream, as data: done at once, or kept in a graph and done whenever that is launched.
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
    std::vector<std::byte> arguments;  // laid out as the kernel wants them
    std::vector<void*> pointers;       // to each of them, for cudaGraphKernelNodeGetParams

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

struct EmptyWork {};

// cudaMemcpy3DParms stands for every copy, cudaMemsetParams for every fill, cudaGraph_t for a graph within the graph.
using Work = std::variant<EmptyWork, KernelWork, cudaMemcpy3DParms, cudaMemsetParams, HostWork, EventWork, cudaGraph_t>;

cudaError_t send_launch(const KernelWork& work, std::uint32_t stream);
// Before host code runs in the order of a stream.
cudaError_t announce_host_function(std::uint32_t stream);

// One row after the other, as cudaMemcpy3DParms has it.
cudaMemcpy3DParms copy_of_rows(void* destination, std::size_t destination_pitch, const void* source,
                               std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind);

}  // namespace warpgrade::cudart
