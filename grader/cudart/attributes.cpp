// The device's properties in CUDA's two forms.
#include <cstring>

#include "cudart/errors.hpp"
#include "cudart/handles.hpp"

using namespace warpgrade::cudart;

namespace {

constexpr int kilohertz(double gigahertz) { return static_cast<int>(gigahertz * 1e6); }

// Programs may ask for the properties in a dead context too; only a device must be there.
template <class Body>
cudaError_t with_properties(int device, Body&& body) {
    return api([&]() -> cudaError_t {
        Connection& connection = Connection::get();
        const cudaError_t status = connection.ready();
        if (status == cudaErrorNoDevice || connection.properties().multi_processor_count == 0) return cudaErrorNoDevice;
        if (device != 0) return cudaErrorInvalidDevice;
        return body(connection.properties());
    });
}

int attribute(const warpgrade::device::DeviceProperties& p, cudaDeviceAttr which) {
    const auto number = [](std::uint64_t value) { return static_cast<int>(value); };
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock:
            return number(p.max_threads_per_block);
        case cudaDevAttrMaxBlockDimX:
            return number(p.max_threads_dim.x);
        case cudaDevAttrMaxBlockDimY:
            return number(p.max_threads_dim.y);
        case cudaDevAttrMaxBlockDimZ:
            return number(p.max_threads_dim.z);
        case cudaDevAttrMaxGridDimX:
            return number(p.max_grid_size.x);
        case cudaDevAttrMaxGridDimY:
            return number(p.max_grid_size.y);
        case cudaDevAttrMaxGridDimZ:
            return number(p.max_grid_size.z);
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return number(p.shared_mem_per_block);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return number(p.shared_mem_per_block_optin);
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return number(p.shared_mem_per_multiprocessor);
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return number(p.reserved_shared_mem_per_block);
        case cudaDevAttrTotalConstantMemory:
            return number(p.total_const_mem);
        case cudaDevAttrWarpSize:
            return number(p.warp_size);
        case cudaDevAttrMaxPitch:
            return 2147483647;
        case cudaDevAttrMaxRegistersPerBlock:
            return number(p.regs_per_block);
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            return number(p.regs_per_multiprocessor);
        case cudaDevAttrClockRate:
            return kilohertz(p.clock_ghz);
        case cudaDevAttrMemoryClockRate:
            return kilohertz(p.memory_clock_ghz);
        case cudaDevAttrGlobalMemoryBusWidth:
            return number(p.memory_bus_bits);
        case cudaDevAttrL2CacheSize:
            return number(p.l2_cache_bytes);
        case cudaDevAttrMultiProcessorCount:
            return number(p.multi_processor_count);
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return number(p.max_threads_per_multi_processor);
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            return number(p.max_blocks_per_multi_processor);
        case cudaDevAttrComputeCapabilityMajor:
            return p.major;
        case cudaDevAttrComputeCapabilityMinor:
            return p.minor;
        case cudaDevAttrTextureAlignment:
        case cudaDevAttrSurfaceAlignment:
            return 512;
        case cudaDevAttrTexturePitchAlignment:
            return 32;
        case cudaDevAttrAsyncEngineCount:
            return 3;
        case cudaDevAttrGpuOverlap:
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrStreamPrioritiesSupported:
        case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrHostRegisterSupported:
            return 1;
        default:  // everything else is a feature that this device does not have
            return 0;
    }
}

}  // namespace

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
    return with_properties(device, [&](const auto& properties) {
        if (value == nullptr || which <= 0 || which >= cudaDevAttrMax) return cudaErrorInvalidValue;
        *value = attribute(properties, which);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* result, int device) {
    return with_properties(device, [&](const auto& p) {
        if (result == nullptr) return cudaErrorInvalidValue;
        const auto get = [&](cudaDeviceAttr which) { return attribute(p, which); };
        cudaDeviceProp& out = *result;
        out = {};
        std::strncpy(out.name, p.name.c_str(), sizeof out.name - 1);
        out.totalGlobalMem = p.total_global_mem;
        out.sharedMemPerBlock = p.shared_mem_per_block;
        out.sharedMemPerBlockOptin = p.shared_mem_per_block_optin;
        out.sharedMemPerMultiprocessor = p.shared_mem_per_multiprocessor;
        out.reservedSharedMemPerBlock = p.reserved_shared_mem_per_block;
        out.totalConstMem = p.total_const_mem;
        out.regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
        out.regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
        out.warpSize = get(cudaDevAttrWarpSize);
        out.memPitch = static_cast<std::size_t>(get(cudaDevAttrMaxPitch));
        out.maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
        out.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
        out.maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
        out.maxThreadsDim[0] = get(cudaDevAttrMaxBlockDimX);
        out.maxThreadsDim[1] = get(cudaDevAttrMaxBlockDimY);
        out.maxThreadsDim[2] = get(cudaDevAttrMaxBlockDimZ);
        out.maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
        out.maxGridSize[1] = get(cudaDevAttrMaxGridDimY);
        out.maxGridSize[2] = get(cudaDevAttrMaxGridDimZ);
        out.major = p.major;
        out.minor = p.minor;
        out.multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
        out.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
        out.l2CacheSize = get(cudaDevAttrL2CacheSize);
        out.textureAlignment = out.surfaceAlignment = static_cast<std::size_t>(get(cudaDevAttrTextureAlignment));
        out.texturePitchAlignment = static_cast<std::size_t>(get(cudaDevAttrTexturePitchAlignment));
        out.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
        out.concurrentKernels = get(cudaDevAttrConcurrentKernels);
        out.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
        out.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
        out.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
        out.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
        out.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
        out.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
        out.hostNumaId = -1;
        return cudaSuccess;
    });
}
