// What the functions of the driver API share. Each is the runtime's function under another name: handles, addresses and
// the numbers of attributes and errors are the same. All contexts are the device's one.
#pragma once

#include <cuda.h>

#include <string>

#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"

namespace warpgrade::cudart {

CUresult to_result(cudaError_t status);
inline CUresult to_result(CUresult result) { return result; }

// True after cuInit, or once the program has used the runtime, which does the same.
bool is_initialized();
void set_initialized();

// The context that is current to the calling thread, or null.
CUcontext current_context();

// Runs the body of a function that needs cuInit and no context.
template <class Body>
CUresult driver_api(Body&& body) noexcept {
    if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
    const DriverCall call;
    return to_result(body());
}

// Runs the body of a function that needs a current context.
template <class Body>
CUresult in_context(Body&& body) noexcept {
    return driver_api([&] { return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : to_result(body()); });
}

inline void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline const void* as_symbol(CUfunction function) { return reinterpret_cast<const void*>(function); }

}  // namespace warpgrade::cudart
