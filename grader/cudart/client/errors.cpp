#include "cudart/client/errors.hpp"

#include <cstdio>
#include <utility>

#include "cudart/client/refused.hpp"

namespace warpgrade::cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local std::uint32_t unseen_launch = 0;  // the request that failed with it, if nothing has looked since

// Tells the device that the program looks at its errors.
void look() {
    if (unseen_launch == 0) return;
    const std::lock_guard lock(Connection::get().mutex());
    Connection::get().call(Op::look_at_launch, Writer().put(std::exchange(unseen_launch, 0)));
}

}  // namespace

cudaError_t remember(cudaError_t status) {
    if (status != cudaSuccess && status != cudaErrorNotReady) {
        last_error = status;
        unseen_launch = 0;
    }
    return status;
}

void remember_launch(std::uint32_t request) { unseen_launch = request; }

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

// Reports an error once, a fault of the device too: it comes back with the next call.
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
