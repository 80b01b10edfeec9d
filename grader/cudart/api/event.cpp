// Events and streams: the functions that do not depend on the meaning of stream 0.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
    const CallSite site;
    return device_api([&](Connection&) { return create_stream(stream, cudaStreamDefault, least_priority); });
}

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection&) { return create_stream(stream, flags, least_priority); });
}

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    const CallSite site;
    return device_api([&](Connection&) { return create_stream(stream, flags, priority); });
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
    return device_api([&](Connection&) { return destroy_stream(stream); });
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return device_api([&](Connection&) {
        if (least != nullptr) *least = least_priority;
        if (greatest != nullptr) *greatest = greatest_priority;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
    const CallSite site;
    return device_api([&](Connection&) { return create_event(event, cudaEventDefault); });
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection&) { return create_event(event, flags); });
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
    return device_api([&](Connection&) { return destroy_event(event); });
}

namespace {

cudaError_t call_with(Op op, cudaEvent_t event) {
    return device_api([&](Connection& connection) {
        std::uint32_t id = 0;
        const cudaError_t status = resolve(event, id);
        return status != cudaSuccess ? status : connection.call(op, Writer().put(id));
    });
}

}  // namespace

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) { return call_with(Op::synchronize_event, event); }

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) { return call_with(Op::query_event, event); }

cudaError_t CUDARTAPI cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return device_api([&](Connection& connection) -> cudaError_t {
        std::uint32_t start_id = 0, end_id = 0;
        double nanoseconds = 0;
        if (milliseconds == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t status = resolve(start, start_id); status != cudaSuccess) return status;
        if (const cudaError_t status = resolve(end, end_id); status != cudaSuccess) return status;
        const cudaError_t status =
            connection.call_for(Op::elapsed_time, Writer().put(start_id).put(end_id), nanoseconds);
        if (status == cudaSuccess) *milliseconds = static_cast<float>(nanoseconds * 1e-6);
        return status;
    });
}
