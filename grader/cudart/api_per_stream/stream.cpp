// Streams, and events in them. Compiled once for each meaning of stream 0.

#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/stream/capture.hpp"

using namespace warpgrade::cudart;

namespace {

template <class Body>
cudaError_t with_stream(cudaStream_t stream, Body&& body) {
    return device_api([&](Connection& connection) {
        std::uint32_t id = 0;
        const cudaError_t status = resolve(stream, default_stream, id);
        return status != cudaSuccess ? status : body(connection, id);
    });
}

}  // namespace

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
    return with_stream(stream, [](Connection& connection, std::uint32_t id) {
        if (const cudaError_t status = refuse_in_capture(id); status != cudaSuccess) return status;
        return connection.call(Op::synchronize_stream, Writer().put(id));
    });
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) {
    return with_stream(stream, [](Connection& connection, std::uint32_t id) {
        if (const cudaError_t status = refuse_in_capture(id); status != cudaSuccess) return status;
        return connection.call(Op::query_stream, Writer().put(id));
    });
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    return with_stream(stream, [&](Connection& connection, std::uint32_t id) {
        std::uint32_t event_id = 0;
        if (flags != 0) return cudaErrorInvalidValue;
        cudaError_t status = resolve(event, event_id);
        if (status != cudaSuccess || capture_wait(id, event, status)) return status;
        return connection.call(Op::stream_wait_event, Writer().put(id).put(event_id));
    });
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    return with_stream(stream, [&](Connection& connection, std::uint32_t id) {
        std::uint32_t event_id = 0;
        if (flags != 0) return cudaErrorInvalidValue;
        const cudaError_t status = resolve(event, event_id);
        if (status != cudaSuccess || capture_record(id, event)) return status;
        return connection.call(Op::record_event, Writer().put(event_id).put(id));
    });
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    return with_stream(stream, [&](Connection&, std::uint32_t) {
        if (flags == nullptr) return cudaErrorInvalidValue;
        const CUstream_st* found = find_stream(stream);
        *flags = found == nullptr ? unsigned{cudaStreamDefault} : found->flags;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return with_stream(stream, [&](Connection&, std::uint32_t) {
        if (priority == nullptr) return cudaErrorInvalidValue;
        const CUstream_st* found = find_stream(stream);
        *priority = found == nullptr ? least_priority : found->priority;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t stream, unsigned long long* number) {
    return with_stream(stream, [&](Connection&, std::uint32_t id) {
        if (number == nullptr) return cudaErrorInvalidValue;
        *number = id;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return with_stream(stream, [&](Connection&, std::uint32_t) {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

// All earlier work of the stream is done when its call returns, so host functions run at once. They run without the
// lock, since they may take locks themselves.
cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    bool now = true;
    const cudaError_t status = with_stream(stream, [&](Connection&, std::uint32_t id) -> cudaError_t {
        if (function == nullptr) return cudaErrorInvalidValue;
        CapturingStream* capture = find_capture(id);
        if (capture == nullptr) return announce_host_function(id);
        now = false;
        return capture_work(*capture, HostWork{function, data});
    });
    if (status == cudaSuccess && now) function(data);
    return status;
}

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                            unsigned int flags) {
    const cudaError_t status = with_stream(stream, [&](Connection&, std::uint32_t id) {
        if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
        if (const cudaError_t refused = refuse_in_capture(id); refused != cudaSuccess) return refused;
        return announce_host_function(id);
    });
    if (status == cudaSuccess) callback(stream, cudaSuccess, data);
    return status;
}
