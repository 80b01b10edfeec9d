// Streams and events as the program sees them: pointers to small objects, checked against the set of live ones.
#pragma once

#include <cstdint>

#include "cudart/client/connection.hpp"

struct CUstream_st {
    std::uint32_t id = 0;
    unsigned flags = 0;
    int priority = 0;
};

struct CUevent_st {
    std::uint32_t id = 0;
    unsigned flags = 0;
};

namespace warpgrade::cudart {

inline constexpr int least_priority = 0, greatest_priority = -5;

// The meaning of stream 0 in the translation unit (see CMakeLists.txt).
enum class DefaultStream { legacy, per_thread };
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
inline constexpr DefaultStream default_stream = DefaultStream::per_thread;
#else
inline constexpr DefaultStream default_stream = DefaultStream::legacy;
#endif

// The server's number of a stream or event. Errors: cudaErrorInvalidResourceHandle, and those of creating the thread's
// own stream.
cudaError_t resolve(cudaStream_t stream, DefaultStream default_kind, std::uint32_t& id);
cudaError_t resolve(cudaEvent_t event, std::uint32_t& id);

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t destroy_stream(cudaStream_t stream);
// The object of a handle; null for the default streams and invalid handles.
CUstream_st* find_stream(cudaStream_t stream);

// Set by cudaStreamSetAttribute.
struct StreamAttributes {
    cudaAccessPolicyWindow window{};
    cudaSynchronizationPolicy synchronization = cudaSyncPolicyAuto;
    int priority = least_priority;
};
StreamAttributes& stream_attributes(std::uint32_t id);

// True if the stream and the legacy stream wait for each other.
bool is_blocking(cudaStream_t stream);

cudaError_t create_event(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event(cudaEvent_t event);

// After a reset of the context.
void forget_handles();

}  // namespace warpgrade::cudart
