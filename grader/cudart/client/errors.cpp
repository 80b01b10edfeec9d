#include "cudart/client/errors.hpp"

#include <atomic>
#include <cstdio>
#include <utility>

#include "cudart/client/refused.hpp"

namespace warpgrade::cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local std::uint32_t unchecked_launch = 0;  // the failed request, until the program checks for errors

std::atomic<bool> used = false;
thread_local unsigned driver_calls = 0;  // that have not returned

// Tells the device server that the program checks for errors.
void look() {
    if (unchecked_launch == 0) return;
    const std::lock_guard lock(Connection::get().mutex());
    Connection::get().call(Op::look_at_launch, Writer().put(std::exchange(unchecked_launch, 0)));
}

}  // namespace

cudaError_t remember(cudaError_t status) {
    if (status != cudaSuccess && status != cudaErrorNotReady) {
        last_error = status;
        unchecked_launch = 0;
    }
    return status;
}

void remember_launch(std::uint32_t request) { unchecked_launch = request; }

DriverCall::DriverCall() : last_error_(last_error), unchecked_launch_(unchecked_launch) { ++driver_calls; }
DriverCall::~DriverCall() {
    --driver_calls;
    last_error = last_error_;
    unchecked_launch = unchecked_launch_;
}

bool runtime_was_used() { return used; }

void record_use() {
    if (driver_calls == 0) used = true;
}

cudaError_t not_supported(const char* what) {
    std::fprintf(stderr, "warpgrade: not supported on this device: %s\n", what);
    return cudaErrorNotSupported;
}

int refuse(const char* function, const char* reason) {
    std::fprintf(stderr, "warpgrade: %s is not supported on this device: %s\n", function, reason);
    return remember(cudaErrorNotSupported);
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

// Also clears a fault of the device, which the next call returns again.
cudaError_t CUDARTAPI cudaGetLastError() {
    look();
    return std::exchange(last_error, cudaSuccess);
}

cudaError_t CUDARTAPI cudaPeekAtLastError() {
    look();
    return last_error;
}

const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define WG_CUDA_ERROR(name, text) \
    case name:                    \
        return #name;
#include "cudart/client/errors.def"
#undef WG_CUDA_ERROR
        default:
            return "unrecognized error code";
    }
}

const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define WG_CUDA_ERROR(name, text) \
    case name:                    \
        return text;
#include "cudart/client/errors.def"
#undef WG_CUDA_ERROR
        default:
            return "unrecognized error code";
    }
}
