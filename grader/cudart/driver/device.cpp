// Initialization, and what the device is.
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstring>

#include "cudart/driver/driver.hpp"

using namespace warpgrade::cudart;

namespace {

template <class Body>
CUresult with_properties(CUdevice device, Body&& body) {
    return driver_api([&]() -> CUresult {
        cudaDeviceProp properties;
        if (const cudaError_t status = cudaGetDeviceProperties(&properties, device); status != cudaSuccess)
            return to_result(status);
        return body(properties);
    });
}

}  // namespace

CUresult CUDAAPI cuInit(unsigned int flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const DriverCall call;
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess) set_initialized();
    return to_result(status);
}

CUresult CUDAAPI cuDriverGetVersion(int* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
    return driver_api([&] {
        if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
        *device = 0;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
    return driver_api([&] { return cudaGetDeviceCount(count); });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
    return with_properties(device, [&](const cudaDeviceProp& properties) {
        if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
        const std::size_t bytes = std::min(std::strlen(properties.name), static_cast<std::size_t>(length) - 1);
        std::memcpy(name, properties.name, bytes);
        name[bytes] = '\0';
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
    return with_properties(device, [&](const cudaDeviceProp& properties) {
        if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
        std::memcpy(uuid->bytes, properties.uuid.bytes, sizeof uuid->bytes);
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
    return with_properties(device, [&](const cudaDeviceProp& properties) {
        if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *bytes = properties.totalGlobalMem;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    return with_properties(device, [&](const cudaDeviceProp& properties) {
        if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *major = properties.major;
        *minor = properties.minor;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    return driver_api([&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device); });
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
    return driver_api([&] { return cudaDeviceGetPCIBusId(id, length, device); });
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
    return driver_api([&] { return cudaDeviceGetByPCIBusId(device, id); });
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int* answer, CUdevice device, CUdevice peer) {
    return driver_api([&] { return cudaDeviceCanAccessPeer(answer, device, peer); });
}

CUresult CUDAAPI cuProfilerStart() {
    return in_context([] { return cudaProfilerStart(); });
}

CUresult CUDAAPI cuProfilerStop() {
    return in_context([] { return cudaProfilerStop(); });
}
