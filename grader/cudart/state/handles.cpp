#include "cudart/state/handles.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace warpgrade::cudart {
namespace {

struct Handles {
    std::unordered_map<cudaStream_t, std::unique_ptr<CUstream_st>> streams;
    std::unordered_map<cudaEvent_t, std::unique_ptr<CUevent_st>> events;
    std::unordered_map<std::uint32_t, StreamAttributes> attributes;  // by the server's number
    std::uint32_t generation = 1;                                    // of the context; a reset increments it
};

Handles& handles() {
    static Handles& all = *new Handles;
    return all;
}

// The calling thread's own default stream, created on first use.
thread_local std::uint32_t own_stream = 0, own_generation = 0;

// `owned`: the program has to destroy it.
cudaError_t create_server_stream(bool blocking, bool owned, std::uint32_t& id) {
    return Connection::get().call_for(Op::create_stream, Writer().put(std::uint8_t{blocking}).put(std::uint8_t{owned}),
                                      id);
}

}  // namespace

cudaError_t resolve(cudaStream_t stream, DefaultStream default_kind, std::uint32_t& id) {
    if (stream == nullptr) stream = default_kind == DefaultStream::legacy ? cudaStreamLegacy : cudaStreamPerThread;
    if (stream == cudaStreamLegacy) return id = 0, cudaSuccess;
    if (stream == cudaStreamPerThread) {
        if (own_generation != handles().generation) {
            if (const cudaError_t status = create_server_stream(true, false, own_stream); status != cudaSuccess)
                return status;
            own_generation = handles().generation;
        }
        return id = own_stream, cudaSuccess;
    }
    const CUstream_st* found = find_stream(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    return id = found->id, cudaSuccess;
}

cudaError_t resolve(cudaEvent_t event, std::uint32_t& id) {
    const auto found = handles().events.find(event);
    if (found == handles().events.end()) return cudaErrorInvalidResourceHandle;
    return id = found->second->id, cudaSuccess;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
    if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) return cudaErrorInvalidValue;
    auto object = std::make_unique<CUstream_st>();
    object->flags = flags;
    object->priority = std::clamp(priority, greatest_priority, least_priority);
    const cudaError_t status = create_server_stream((flags & cudaStreamNonBlocking) == 0, true, object->id);
    if (status != cudaSuccess) return status;
    stream_attributes(object->id).priority = object->priority;
    *stream = object.get();
    handles().streams[*stream] = std::move(object);
    return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
    const CUstream_st* found = find_stream(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    const cudaError_t status = Connection::get().call(Op::destroy_stream, Writer().put(found->id));
    if (status != cudaSuccess) return status;
    handles().attributes.erase(found->id);
    handles().streams.erase(stream);
    return status;
}

CUstream_st* find_stream(cudaStream_t stream) {
    const auto found = handles().streams.find(stream);
    return found == handles().streams.end() ? nullptr : found->second.get();
}

bool is_blocking(cudaStream_t stream) {
    const CUstream_st* found = find_stream(stream);
    return found == nullptr || (found->flags & cudaStreamNonBlocking) == 0;
}

StreamAttributes& stream_attributes(std::uint32_t id) { return handles().attributes[id]; }

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
    constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;  // no interprocess events
    if (event == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    auto object = std::make_unique<CUevent_st>();
    object->flags = flags;
    const std::uint8_t timing = (flags & cudaEventDisableTiming) == 0;
    const cudaError_t status = Connection::get().call_for(Op::create_event, Writer().put(timing), object->id);
    if (status != cudaSuccess) return status;
    *event = object.get();
    handles().events[*event] = std::move(object);
    return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
    std::uint32_t id = 0;
    if (const cudaError_t status = resolve(event, id); status != cudaSuccess) return status;
    const cudaError_t status = Connection::get().call(Op::destroy_event, Writer().put(id));
    if (status == cudaSuccess) handles().events.erase(event);
    return status;
}

void forget_handles() {
    handles().streams.clear();
    handles().attributes.clear();
    handles().events.clear();
    ++handles().generation;
}

}  // namespace warpgrade::cudart
