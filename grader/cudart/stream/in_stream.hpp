// What every call that takes a stream begins with.
#pragma once

#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"

namespace warpgrade::cudart {

// Calls body(id) with the server's number of the stream; stream 0 is this translation unit's (see DefaultStream), and
// so the function is each one's own.
template <class Body>
static cudaError_t in_stream(cudaStream_t stream, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t {
        std::uint32_t id = 0;
        if (const cudaError_t status = resolve(stream, default_stream, id); status != cudaSuccess) return status;
        return body(id);
    });
}

}  // namespace warpgrade::cudart
