// Contexts. There is one device with one context, which all of the program's stand for.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "cudart/driver/driver.hpp"
#include "cudart/driver/module.hpp"

struct CUctx_st {
    unsigned flags = 0;
    int uses = 0;  // of the primary context
};

namespace warpgrade::cudart {
namespace {

struct Contexts {
    CUctx_st primary;
    std::vector<std::unique_ptr<CUctx_st>> created;
};

Contexts& contexts() {
    static Contexts& all = *new Contexts;
    return all;
}

std::atomic<bool> initialized = false;
thread_local std::vector<CUcontext> current;  // the last one counts

bool has_primary() { return contexts().primary.uses > 0 || runtime_was_used(); }

bool is_live(CUcontext context) {
    if (context == &contexts().primary) return has_primary();
    const auto& all = contexts().created;
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.get() == context; });
}

// A device that a kernel's fault has ended has no new context.
cudaError_t is_alive() {
    return device_api([](Connection&) { return cudaSuccess; });
}

// With the last context goes all that the program has on the device.
cudaError_t reset_if_unused() {
    if (has_primary() || !contexts().created.empty()) return cudaSuccess;
    unload_modules();
    return cudaDeviceReset();
}

// The bodies below change what all threads share.
template <class Body>
CUresult locked(Body&& body) {
    return driver_api([&] {
        const std::lock_guard lock(Connection::get().mutex());
        return body();
    });
}

template <class Body>
CUresult with_primary(CUdevice device, Body&& body) {
    return locked([&] { return device != 0 ? CUDA_ERROR_INVALID_DEVICE : to_result(body(contexts().primary)); });
}

constexpr unsigned known_flags = CU_CTX_FLAGS_MASK;

}  // namespace

bool is_initialized() { return initialized || runtime_was_used(); }
void set_initialized() { initialized = true; }

CUcontext current_context() {
    const std::lock_guard lock(Connection::get().mutex());
    if (!current.empty()) return is_live(current.back()) ? current.back() : nullptr;
    return runtime_was_used() ? &contexts().primary : nullptr;
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

CUresult CUDAAPI cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
    return locked([&] {
        if (context == nullptr || (flags & ~known_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
        if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
        if (parameters != nullptr && (parameters->execAffinityParams != nullptr || parameters->cigParams != nullptr))
            return to_result(not_supported("contexts that are given a part of the device"));
        if (const cudaError_t status = is_alive(); status != cudaSuccess) return to_result(status);
        contexts().created.push_back(std::make_unique<CUctx_st>());
        *context = contexts().created.back().get();
        (*context)->flags = flags;
        current.push_back(*context);
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
    return locked([&] {
        if (context == &contexts().primary || !is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
        if (!current.empty() && current.back() == context) current.pop_back();
        std::erase_if(contexts().created, [&](const auto& each) { return each.get() == context; });
        return to_result(reset_if_unused());
    });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
    return locked([&] {
        if (context != nullptr && !is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
        if (!current.empty()) current.pop_back();
        if (context != nullptr) current.push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
    return driver_api([&] {
        if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *context = current_context();
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
    return locked([&] {
        if (!is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
        current.push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext* context) {
    return locked([&] {
        if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (context != nullptr) *context = current.back();
        current.pop_back();
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxSynchronize() {
    const CallSite site;
    return in_context([] { return cudaDeviceSynchronize(); });
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
    return in_context([&] {
        if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *device = 0;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int* flags) {
    return in_context([&] {
        if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = current_context()->flags;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
    return driver_api([&] {
        if (context != nullptr && !is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
        if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *version = CUDA_VERSION;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuCtxGetLimit(std::size_t* value, CUlimit limit) {
    return in_context([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, std::size_t value) {
    return in_context([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache) {
    return in_context([] { return CUDA_SUCCESS; });
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return in_context([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return with_primary(device, [&](CUctx_st& primary) {
        if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (const cudaError_t status = is_alive(); status != cudaSuccess) return to_result(status);
        ++primary.uses;
        *context = &primary;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
    return with_primary(device, [](CUctx_st& primary) {
        if (primary.uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
        --primary.uses;
        return to_result(reset_if_unused());
    });
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device) {
    return with_primary(device, [](CUctx_st&) {
        unload_modules();
        return cudaDeviceReset();
    });
}

// The flags say how the host waits, which has no effect here.
CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
    return with_primary(device, [&](CUctx_st& primary) {
        if ((flags & ~known_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
        primary.flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
    return with_primary(device, [&](const CUctx_st& primary) {
        if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = primary.flags;
        *active = has_primary();
        return CUDA_SUCCESS;
    });
}
