// The device's properties in CUDA's two forms.
#include <cstring>

#include "cudart/client/errors.hpp"

using namespace warpgrade::cudart;

namespace {

constexpr int kilohertz(double gigahertz) { return static_cast<int>(gigahertz * 1e6); }

// The properties are available in a dead context too.
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

struct Constant {
    cudaDeviceAttr attribute;
    int value;
};

// Properties that all device profiles share. Texture sizes are those of compute capability 5.0 and later.
constexpr Constant constants[] = {
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrHostRegisterReadOnlySupported, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrEccEnabled, 1},
    {cudaDevAttrPciBusId, 1},
    {cudaDevAttrMemSyncDomainCount, 1},
    {cudaDevAttrNumaId, -1},
    {cudaDevAttrHostNumaId, -1},
    {cudaDevAttrMaxTexture1DWidth, 131072},
    {cudaDevAttrMaxTexture1DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture1DLinearWidth, 268435456},
    {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
    {cudaDevAttrMaxTexture2DWidth, 131072},
    {cudaDevAttrMaxTexture2DHeight, 65536},
    {cudaDevAttrMaxTexture2DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture2DMipmappedHeight, 32768},
    {cudaDevAttrMaxTexture2DLinearWidth, 131072},
    {cudaDevAttrMaxTexture2DLinearHeight, 65000},
    {cudaDevAttrMaxTexture2DLinearPitch, 2097120},
    {cudaDevAttrMaxTexture2DGatherWidth, 32768},
    {cudaDevAttrMaxTexture2DGatherHeight, 32768},
    {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
    {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
    {cudaDevAttrMaxTexture3DWidth, 16384},
    {cudaDevAttrMaxTexture3DHeight, 16384},
    {cudaDevAttrMaxTexture3DDepth, 16384},
    {cudaDevAttrMaxTexture3DWidthAlt, 8192},
    {cudaDevAttrMaxTexture3DHeightAlt, 8192},
    {cudaDevAttrMaxTexture3DDepthAlt, 32768},
    {cudaDevAttrMaxTextureCubemapWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxSurface1DWidth, 32768},
    {cudaDevAttrMaxSurface1DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface1DLayeredLayers, 2048},
    {cudaDevAttrMaxSurface2DWidth, 131072},
    {cudaDevAttrMaxSurface2DHeight, 65536},
    {cudaDevAttrMaxSurface2DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface2DLayeredHeight, 32768},
    {cudaDevAttrMaxSurface2DLayeredLayers, 2048},
    {cudaDevAttrMaxSurface3DWidth, 16384},
    {cudaDevAttrMaxSurface3DHeight, 16384},
    {cudaDevAttrMaxSurface3DDepth, 16384},
    {cudaDevAttrMaxSurfaceCubemapWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046},
};

// The ratio of single-precision to double-precision throughput.
int double_ratio(const warpgrade::device::DeviceProperties& p) {
    if (p.major == 3) return 3;
    if (p.major == 8 && p.minor != 0) return 64;
    return p.minor == 0 && p.major >= 6 ? 2 : 32;
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
        case cudaDevAttrSingleToDoublePrecisionPerfRatio:
            return double_ratio(p);
        case cudaDevAttrMaxPersistingL2CacheSize:
            return p.major >= 8 ? number(p.l2_cache_bytes / 8 * (p.major >= 9 ? 5 : 6)) : 0;
        case cudaDevAttrMaxAccessPolicyWindowSize:
            return p.major >= 8 ? 134213632 : 0;
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrComputePreemptionSupported:
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
            return p.major >= 6 ? 1 : 0;
        default:
            for (const Constant& row : constants)
                if (row.attribute == which) return row.value;
            return 0;  // the device lacks the feature
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
        out.integrated = get(cudaDevAttrIntegrated);
        out.canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
        out.maxTexture1D = get(cudaDevAttrMaxTexture1DWidth);
        out.maxTexture1DMipmap = get(cudaDevAttrMaxTexture1DMipmappedWidth);
        out.maxTexture2D[0] = get(cudaDevAttrMaxTexture2DWidth);
        out.maxTexture2D[1] = get(cudaDevAttrMaxTexture2DHeight);
        out.maxTexture2DMipmap[0] = get(cudaDevAttrMaxTexture2DMipmappedWidth);
        out.maxTexture2DMipmap[1] = get(cudaDevAttrMaxTexture2DMipmappedHeight);
        out.maxTexture2DLinear[0] = get(cudaDevAttrMaxTexture2DLinearWidth);
        out.maxTexture2DLinear[1] = get(cudaDevAttrMaxTexture2DLinearHeight);
        out.maxTexture2DLinear[2] = get(cudaDevAttrMaxTexture2DLinearPitch);
        out.maxTexture2DGather[0] = get(cudaDevAttrMaxTexture2DGatherWidth);
        out.maxTexture2DGather[1] = get(cudaDevAttrMaxTexture2DGatherHeight);
        out.maxTexture3D[0] = get(cudaDevAttrMaxTexture3DWidth);
        out.maxTexture3D[1] = get(cudaDevAttrMaxTexture3DHeight);
        out.maxTexture3D[2] = get(cudaDevAttrMaxTexture3DDepth);
        out.maxTexture3DAlt[0] = get(cudaDevAttrMaxTexture3DWidthAlt);
        out.maxTexture3DAlt[1] = get(cudaDevAttrMaxTexture3DHeightAlt);
        out.maxTexture3DAlt[2] = get(cudaDevAttrMaxTexture3DDepthAlt);
        out.maxTextureCubemap = get(cudaDevAttrMaxTextureCubemapWidth);
        out.maxTexture1DLayered[0] = get(cudaDevAttrMaxTexture1DLayeredWidth);
        out.maxTexture1DLayered[1] = get(cudaDevAttrMaxTexture1DLayeredLayers);
        out.maxTexture2DLayered[0] = get(cudaDevAttrMaxTexture2DLayeredWidth);
        out.maxTexture2DLayered[1] = get(cudaDevAttrMaxTexture2DLayeredHeight);
        out.maxTexture2DLayered[2] = get(cudaDevAttrMaxTexture2DLayeredLayers);
        out.maxTextureCubemapLayered[0] = get(cudaDevAttrMaxTextureCubemapLayeredWidth);
        out.maxTextureCubemapLayered[1] = get(cudaDevAttrMaxTextureCubemapLayeredLayers);
        out.maxSurface1D = get(cudaDevAttrMaxSurface1DWidth);
        out.maxSurface2D[0] = get(cudaDevAttrMaxSurface2DWidth);
        out.maxSurface2D[1] = get(cudaDevAttrMaxSurface2DHeight);
        out.maxSurface3D[0] = get(cudaDevAttrMaxSurface3DWidth);
        out.maxSurface3D[1] = get(cudaDevAttrMaxSurface3DHeight);
        out.maxSurface3D[2] = get(cudaDevAttrMaxSurface3DDepth);
        out.maxSurface1DLayered[0] = get(cudaDevAttrMaxSurface1DLayeredWidth);
        out.maxSurface1DLayered[1] = get(cudaDevAttrMaxSurface1DLayeredLayers);
        out.maxSurface2DLayered[0] = get(cudaDevAttrMaxSurface2DLayeredWidth);
        out.maxSurface2DLayered[1] = get(cudaDevAttrMaxSurface2DLayeredHeight);
        out.maxSurface2DLayered[2] = get(cudaDevAttrMaxSurface2DLayeredLayers);
        out.maxSurfaceCubemap = get(cudaDevAttrMaxSurfaceCubemapWidth);
        out.maxSurfaceCubemapLayered[0] = get(cudaDevAttrMaxSurfaceCubemapLayeredWidth);
        out.maxSurfaceCubemapLayered[1] = get(cudaDevAttrMaxSurfaceCubemapLayeredLayers);
        out.concurrentKernels = get(cudaDevAttrConcurrentKernels);
        out.ECCEnabled = get(cudaDevAttrEccEnabled);
        out.pciBusID = get(cudaDevAttrPciBusId);
        out.pciDeviceID = get(cudaDevAttrPciDeviceId);
        out.pciDomainID = get(cudaDevAttrPciDomainId);
        out.tccDriver = get(cudaDevAttrTccDriver);
        out.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
        out.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
        out.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
        out.l2CacheSize = get(cudaDevAttrL2CacheSize);
        out.persistingL2CacheMaxSize = get(cudaDevAttrMaxPersistingL2CacheSize);
        out.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
        out.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
        out.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
        out.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
        out.managedMemory = get(cudaDevAttrManagedMemory);
        out.isMultiGpuBoard = get(cudaDevAttrIsMultiGpuBoard);
        out.multiGpuBoardGroupID = get(cudaDevAttrMultiGpuBoardGroupID);
        out.hostNativeAtomicSupported = get(cudaDevAttrHostNativeAtomicSupported);
        out.pageableMemoryAccess = get(cudaDevAttrPageableMemoryAccess);
        out.concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
        out.computePreemptionSupported = get(cudaDevAttrComputePreemptionSupported);
        out.canUseHostPointerForRegisteredMem = get(cudaDevAttrCanUseHostPointerForRegisteredMem);
        out.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
        out.pageableMemoryAccessUsesHostPageTables = get(cudaDevAttrPageableMemoryAccessUsesHostPageTables);
        out.directManagedMemAccessFromHost = get(cudaDevAttrDirectManagedMemAccessFromHost);
        out.accessPolicyMaxWindowSize = get(cudaDevAttrMaxAccessPolicyWindowSize);
        out.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
        out.sparseCudaArraySupported = get(cudaDevAttrSparseCudaArraySupported);
        out.hostRegisterReadOnlySupported = get(cudaDevAttrHostRegisterReadOnlySupported);
        out.timelineSemaphoreInteropSupported = get(cudaDevAttrTimelineSemaphoreInteropSupported);
        out.memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
        out.gpuDirectRDMASupported = get(cudaDevAttrGPUDirectRDMASupported);
        out.gpuDirectRDMAWritesOrdering = get(cudaDevAttrGPUDirectRDMAWritesOrdering);
        out.deferredMappingCudaArraySupported = get(cudaDevAttrDeferredMappingCudaArraySupported);
        out.ipcEventSupported = get(cudaDevAttrIpcEventSupport);
        out.clusterLaunch = get(cudaDevAttrClusterLaunch);
        out.deviceNumaConfig = get(cudaDevAttrNumaConfig);
        out.deviceNumaId = get(cudaDevAttrNumaId);
        out.mpsEnabled = get(cudaDevAttrMpsEnabled);
        out.hostNumaId = get(cudaDevAttrHostNumaId);
        out.textureAlignment = static_cast<std::size_t>(get(cudaDevAttrTextureAlignment));
        out.surfaceAlignment = static_cast<std::size_t>(get(cudaDevAttrSurfaceAlignment));
        out.texturePitchAlignment = static_cast<std::size_t>(get(cudaDevAttrTexturePitchAlignment));
        return cudaSuccess;
    });
}
