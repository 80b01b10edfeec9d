// What every function of the API shares: the lock, the last error of the calling thread, and that nothing throws.
#pragma once

#include <new>

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

// Makes an error the calling thread's last one, and returns it. Being not ready is no error.
cudaError_t remember(cudaError_t status);

// The error that was just remembered is that of the launch with this request's number: only cudaGetLastError tells.
void remember_launch(std::uint32_t request);

// A function of the API that is there but cannot be had here: one line on stderr says which.
cudaError_t not_supported(const char* what);

// Runs the body of an API function.
template <class Body>
cudaError_t api(Body&& body) noexcept {
    const std::lock_guard lock(Connection::get().mutex());
    try {
        return remember(body());
    } catch (const std::bad_alloc&) {
        return remember(cudaErrorMemoryAllocation);
    } catch (...) {
        return remember(cudaErrorUnknown);
    }
}

// The same for functions that need the device: its connection is ready when the body runs.
template <class Body>
cudaError_t device_api(Body&& body) noexcept {
    return api([&]() -> cudaError_t {
        if (const cudaError_t status = Connection::get().ready(); status != cudaSuccess) return status;
        return body(Connection::get());
    });
}

}  // namespace warpgrade::cudart
