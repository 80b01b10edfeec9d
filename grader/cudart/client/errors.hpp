// What all API functions share: the lock, and the calling thread's last error. None of them throws.
#pragma once

#include <new>

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

// Makes an error the calling thread's last one and returns it. "Not ready" is not an error.
cudaError_t remember(cudaError_t status);

// Makes the error of a <<<…>>> the last one; `request` is its request. The program sees it only through
// cudaGetLastError.
void remember_launch(std::uint32_t request);

// Prints one line to stderr and returns cudaErrorNotSupported.
cudaError_t not_supported(const char* what);

// Surrounds a function of the driver API, whose errors are its results alone: the calling thread's last error stays.
class DriverCall {
  public:
    DriverCall();
    ~DriverCall();
    DriverCall(const DriverCall&) = delete;
    DriverCall& operator=(const DriverCall&) = delete;

  private:
    cudaError_t last_error_;
    std::uint32_t unchecked_launch_;
};

// True once the program itself, not the driver API on its behalf, has called the runtime, which then has a context.
bool runtime_was_used();
void record_use();

// Runs the body of an API function.
template <class Body>
cudaError_t api(Body&& body) noexcept {
    record_use();
    const std::lock_guard lock(Connection::get().mutex());
    try {
        return remember(body());
    } catch (const std::bad_alloc&) {
        return remember(cudaErrorMemoryAllocation);
    } catch (...) {
        return remember(cudaErrorUnknown);
    }
}

// The same for functions that need the device; connects before the body runs.
template <class Body>
cudaError_t device_api(Body&& body) noexcept {
    return api([&]() -> cudaError_t {
        if (const cudaError_t status = Connection::get().ready(); status != cudaSuccess) return status;
        return body(Connection::get());
    });
}

}  // namespace warpgrade::cudart
