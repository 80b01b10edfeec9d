// Attributes and occupancy of kernels, and the stack of launch configurations.
#include <algorithm>

#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/registry.hpp"

using namespace warpgrade::cudart;

namespace {

template <class Body>
cudaError_t with_kernel(const void* function, Body&& body) {
    return device_api([&](Connection& connection) -> cudaError_t {
        Kernel* kernel = nullptr;
        if (const cudaError_t status = Registry::get().find_kernel(function, kernel); status != cudaSuccess)
            return status;
        return body(connection, *kernel);
    });
}

struct CallConfiguration {
    dim3 grid, block;
    std::size_t shared_bytes = 0;
    void* stream = nullptr;
    std::uint64_t code = 0;  // of the <<<…>>>
};

// A stack, since an argument of a launch may launch something itself.
thread_local std::vector<CallConfiguration> configurations;

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream) {
    configurations.push_back({grid, block, shared_bytes, stream, return_code(__builtin_frame_address(0))});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
    if (configurations.empty()) return remember(cudaErrorMissingConfiguration);
    const CallConfiguration top = configurations.back();
    configurations.pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared_bytes = top.shared_bytes;
    *static_cast<void**>(stream) = top.stream;
    LaunchSite::popped(top.code);
    return cudaSuccess;
}
}

cudaError_t CUDARTAPI cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
    return with_kernel(function, [&](Connection& connection, const Kernel& kernel) -> cudaError_t {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        const auto& info = kernel.info;
        const std::uint64_t usual = connection.properties().shared_mem_per_block;
        *attributes = {};
        attributes->sharedSizeBytes = info.static_shared_bytes;
        attributes->constSizeBytes = info.constant_bytes;
        attributes->localSizeBytes = info.local_bytes_per_thread;
        attributes->maxThreadsPerBlock = static_cast<int>(info.max_threads_per_block);
        attributes->numRegs = static_cast<int>(info.registers_per_thread);
        attributes->ptxVersion = info.ptx_version;
        attributes->binaryVersion = info.binary_version;
        attributes->maxDynamicSharedSizeBytes = static_cast<int>(
            kernel.dynamic_shared_bytes > 0 ? kernel.dynamic_shared_bytes
                                            : usual - std::min<std::uint64_t>(usual, info.static_shared_bytes));
        attributes->preferredShmemCarveout = -1;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
    return with_kernel(function, [&](Connection& connection, Kernel& kernel) -> cudaError_t {
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize: {
                if (value < 0) return cudaErrorInvalidValue;
                const auto bytes = static_cast<std::uint64_t>(value);
                const cudaError_t status = connection.call(Op::set_dynamic_shared, Writer().put(kernel.id).put(bytes));
                if (status == cudaSuccess) kernel.dynamic_shared_bytes = bytes;
                return status;
            }
            case cudaFuncAttributePreferredSharedMemoryCarveout:  // a hint
                return value < -1 || value > 100 ? cudaErrorInvalidValue : cudaSuccess;
            default:
                return not_supported("this attribute of cudaFuncSetAttribute (thread block clusters)");
        }
    });
}

cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
    return with_kernel(function, [](Connection&, const Kernel&) { return cudaSuccess; });
}

cudaError_t CUDARTAPI cudaFuncGetName(const char** name, const void* function) {
    return with_kernel(function, [&](Connection&, const Kernel& kernel) {
        if (name == nullptr) return cudaErrorInvalidValue;
        *name = kernel.name.c_str();
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                             int block_threads,
                                                                             std::size_t shared_bytes,
                                                                             unsigned int flags) {
    return with_kernel(function, [&](Connection& connection, const Kernel& kernel) -> cudaError_t {
        if (blocks == nullptr || block_threads <= 0 || (flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0)
            return cudaErrorInvalidValue;
        std::uint32_t result = 0;
        Writer request;
        request.put(kernel.id).put(static_cast<std::uint32_t>(block_threads)).put(std::uint64_t{shared_bytes});
        const cudaError_t status = connection.call_for(Op::occupancy, request, result);
        if (status == cudaSuccess) *blocks = static_cast<int>(result);
        return status;
    });
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                    int block_threads, std::size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared_bytes,
                                                                  cudaOccupancyDefault);
}

// Finds the largest dynamic shared memory at which this many blocks fit on a multiprocessor, by binary search.
cudaError_t CUDARTAPI cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                                int block_threads) {
    return with_kernel(function, [&](Connection& connection, const Kernel& kernel) -> cudaError_t {
        if (bytes == nullptr || blocks <= 0 || block_threads <= 0) return cudaErrorInvalidValue;
        const auto fits = [&](std::uint64_t shared, bool& answer) {
            std::uint32_t resident = 0;
            Writer request;
            request.put(kernel.id).put(static_cast<std::uint32_t>(block_threads)).put(shared);
            const cudaError_t status = connection.call_for(Op::occupancy, request, resident);
            answer = resident >= static_cast<std::uint32_t>(blocks);
            return status;
        };
        bool answer = false;
        if (const cudaError_t status = fits(0, answer); status != cudaSuccess) return status;
        if (!answer) return cudaErrorInvalidValue;
        std::uint64_t low = 0, high = connection.properties().shared_mem_per_block_optin + 1;
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (const cudaError_t status = fits(middle, answer); status != cudaSuccess) return status;
            (answer ? low : high) = middle;
        }
        *bytes = low;
        return cudaSuccess;
    });
}

// Clusters are not supported, so the largest one is a single block.
cudaError_t CUDARTAPI cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                           const cudaLaunchConfig_t* config) {
    return with_kernel(function, [&](Connection&, const Kernel&) {
        if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
        *size = 1;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                           std::size_t* bytes) {
    return with_kernel(function, [&](Connection&, const Kernel& kernel) {
        if (offset == nullptr || index >= kernel.info.params.size()) return cudaErrorInvalidValue;
        *offset = kernel.info.params[index].offset;
        if (bytes != nullptr) *bytes = kernel.info.params[index].bytes;
        return cudaSuccess;
    });
}

// Shared memory's banks are four bytes wide on every device since Maxwell.
cudaError_t CUDARTAPI cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
    return with_kernel(function, [](Connection&, const Kernel&) { return cudaSuccess; });
}

cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t* handle, const void* function) {
    return with_kernel(function, [&](Connection&, Kernel& kernel) {
        if (handle == nullptr) return cudaErrorInvalidValue;
        *handle = reinterpret_cast<cudaFunction_t>(&kernel);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                                      int device) {
    if (device != 0) return remember(cudaErrorInvalidDevice);
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
