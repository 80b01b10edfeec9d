// The beginning of every API function that takes a stream.
#pragma once

#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"

namespace warpgrade::cudart {

// Calls body(id) with the server's number of the stream. The function is static because the meaning of stream 0 depends
// on the translation unit (see DefaultStream).
template <class Body>
static cudaError_t in_stream(cudaStream_t stream, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t {
        std::uint32_t id = 0;
        if (const cudaError_t status = resolve(stream, default_stream, id); status != cudaSuccess) return status;
        return body(id);
    });
}

}  // namespace warpgrade::cudart
