// Kernels: attributes and occupancy. A CUfunction is also a cudaFunction_t and a cudaKernel_t.
#include <cuda_runtime.h>

#include "cudart/driver/driver.hpp"

using namespace warpgrade::cudart;

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    return in_context([&]() -> cudaError_t {
        cudaFuncAttributes has{};
        if (value == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t status = cudaFuncGetAttributes(&has, as_symbol(function)); status != cudaSuccess)
            return status;
        const auto give = [&](auto number) { return *value = static_cast<int>(number), cudaSuccess; };
        switch (attribute) {
            case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
                return give(has.maxThreadsPerBlock);
            case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
                return give(has.sharedSizeBytes);
            case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
                return give(has.constSizeBytes);
            case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
                return give(has.localSizeBytes);
            case CU_FUNC_ATTRIBUTE_NUM_REGS:
                return give(has.numRegs);
            case CU_FUNC_ATTRIBUTE_PTX_VERSION:
                return give(has.ptxVersion);
            case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
                return give(has.binaryVersion);
            case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
                return give(has.cacheModeCA);
            case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
                return give(has.maxDynamicSharedSizeBytes);
            case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
                return give(has.preferredShmemCarveout);
            default:
                return not_supported("this attribute of cuFuncGetAttribute (thread block clusters)");
        }
    });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    const CallSite site;
    return in_context(
        [&] { return cudaFuncSetAttribute(as_symbol(function), static_cast<cudaFuncAttribute>(attribute), value); });
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
    return in_context([&] { return cudaFuncSetCacheConfig(as_symbol(function), cudaFuncCachePreferNone); });
}

CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction function) {
    return in_context([&] { return cudaFuncGetName(name, as_symbol(function)); });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    return in_context([&] { return cudaFuncGetParamInfo(as_symbol(function), index, offset, bytes); });
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_threads,
                                                             std::size_t shared_bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared_bytes, 0);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                                      int block_threads, std::size_t shared_bytes,
                                                                      unsigned int flags) {
    return in_context([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, as_symbol(function), block_threads,
                                                                      shared_bytes, flags);
    });
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block_threads, CUfunction function,
                                                  CUoccupancyB2DSize shared_of, std::size_t shared_bytes, int limit) {
    return in_context([&] {
        const auto needs = [&](int threads) { return shared_of != nullptr ? shared_of(threads) : shared_bytes; };
        return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid, block_threads, as_symbol(function), needs,
                                                              limit);
    });
}
