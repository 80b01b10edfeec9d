// Device management for the only device.
#include <cuda_profiler_api.h>

#include <array>

#include "cudart/client/errors.hpp"
#include "cudart/state/array.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/state/host_memory.hpp"
#include "cudart/state/pools.hpp"
#include "cudart/state/registry.hpp"
#include "cudart/stream/capture.hpp"

using namespace warpgrade::cudart;

namespace {

// The limits that a program can read back, with an H100's defaults.
std::array<std::size_t, 7>& limits() {
    static std::array<std::size_t, 7> values{1024, 8650752, 8388608, 0, 2048, 64, 9830400};
    return values;
}

unsigned device_flags = 0;

bool known_limit(cudaLimit limit) {
    return static_cast<std::size_t>(limit) < limits().size() && limit != cudaLimitDevRuntimeSyncDepth;
}

// These work in a dead context too.
bool there_is_a_device() {
    const cudaError_t status = Connection::get().ready();
    return status != cudaErrorNoDevice && status != cudaErrorDevicesUnavailable;
}

}  // namespace

cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
    return api([&] {
        if (count == nullptr) return cudaErrorInvalidValue;
        *count = there_is_a_device() ? 1 : 0;
        return *count == 1 ? cudaSuccess : cudaErrorNoDevice;
    });
}

cudaError_t CUDARTAPI cudaGetDevice(int* device) {
    return api([&] {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return there_is_a_device() ? cudaSuccess : cudaErrorNoDevice;
    });
}

cudaError_t CUDARTAPI cudaSetDevice(int device) {
    return api([&] {
        if (!there_is_a_device()) return cudaErrorNoDevice;
        return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    });
}

// The flags say how the host waits, which has no effect here.
cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags) {
    return api([&] {
        if (!there_is_a_device()) return cudaErrorNoDevice;
        if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
        device_flags = flags;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int* flags) {
    return api([&] {
        if (!there_is_a_device()) return cudaErrorNoDevice;
        if (flags == nullptr) return cudaErrorInvalidValue;
        *flags = device_flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    return device_api([](Connection& connection) {
        const cudaError_t status = refuse_in_any_capture();
        return status != cudaSuccess ? status : connection.call(Op::synchronize_device);
    });
}

cudaError_t CUDARTAPI cudaDeviceReset() {
    return api([]() -> cudaError_t {
        const cudaError_t status = Connection::get().reset();
        forget_handles();
        forget_host_ranges();
        forget_pools();
        forget_arrays();
        forget_images();
        forget_captures();
        forget_graphs();
        Registry::get().forget();
        return status;
    });
}

cudaError_t CUDARTAPI cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
    return device_api([&](Connection&) {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (!known_limit(limit)) return cudaErrorUnsupportedLimit;
        *value = limits()[limit];
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    return device_api([&](Connection& connection) {
        if (!known_limit(limit)) return cudaErrorUnsupportedLimit;
        // The other limits, for device-side launches and cache hints, have no effect here.
        if (limit == cudaLimitStackSize || limit == cudaLimitPrintfFifoSize || limit == cudaLimitMallocHeapSize) {
            Writer request;
            request.put(static_cast<std::uint8_t>(limit)).put(std::uint64_t{value});
            std::uint64_t holds = 0;
            const cudaError_t status = connection.call_for(Op::set_limit, request, holds);
            if (status == cudaSuccess) limits()[limit] = holds;
            return status;
        }
        limits()[limit] = value;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(cudaFuncCache) {
    return device_api([](Connection&) { return cudaSuccess; });
}

cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return device_api([&](Connection&) {
        if (config == nullptr) return cudaErrorInvalidValue;
        *config = cudaFuncCachePreferNone;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    return device_api([](Connection&) { return cudaSuccess; });
}

cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return device_api([&](Connection&) {
        if (config == nullptr) return cudaErrorInvalidValue;
        *config = cudaSharedMemBankSizeFourByte;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache() {
    return device_api([](Connection&) { return cudaSuccess; });
}

cudaError_t CUDARTAPI cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, const cudaChannelFormatDesc* channels,
                                                           int device) {
    return device_api([&](Connection&) {
        if (device != 0) return cudaErrorInvalidDevice;
        if (elements == nullptr || channels == nullptr) return cudaErrorInvalidValue;
        *elements = std::size_t{1} << 28;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
    if (version == nullptr) return remember(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t CUDARTAPI cudaProfilerStart() { return cudaSuccess; }

cudaError_t CUDARTAPI cudaProfilerStop() { return cudaSuccess; }
