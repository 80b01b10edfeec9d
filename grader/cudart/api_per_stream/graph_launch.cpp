// Launching graphs, and capturing streams into them. Compiled once for each meaning of stream 0.
#include <algorithm>

#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/state/pools.hpp"
#include "cudart/stream/capture.hpp"
#include "cudart/stream/in_stream.hpp"
#include "cudart/stream/transfer.hpp"

using namespace warpgrade::cudart;

namespace {

cudaError_t run(const Work& work, cudaStream_t stream) {
    if (const auto* kernel = std::get_if<KernelWork>(&work)) {
        return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
            KernelWork fresh = *kernel;  // its module may have been loaded again
            const cudaError_t status = Registry::get().find_kernel(fresh.function, fresh.kernel);
            return status != cudaSuccess ? status : send_launch(fresh, id);
        });
    }
    if (const auto* copy = std::get_if<cudaMemcpy3DParms>(&work)) return cudaMemcpy3DAsync(copy, stream);
    if (const auto* fill = std::get_if<cudaMemsetParams>(&work))
        return in_stream(stream, [&](std::uint32_t id) { return fill_elements(*fill, id); });
    if (const auto* event = std::get_if<EventWork>(&work))
        return event->wait ? cudaStreamWaitEvent(stream, event->event, 0) : cudaEventRecord(event->event, stream);
    if (const auto* allocation = std::get_if<AllocationWork>(&work))
        return in_stream(stream, [&](std::uint32_t) { return allocate_reserved(allocation->parameters.dptr); });
    if (const auto* free = std::get_if<FreeWork>(&work)) return cudaFreeAsync(free->pointer, stream);
    // Host functions run without the lock.
    if (const auto* host = std::get_if<HostWork>(&work)) {
        const cudaError_t status = in_stream(stream, announce_host_function);
        if (status != cudaSuccess) return status;
        host->function(host->data);
    }
    return cudaSuccess;
}

}  // namespace

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    const CallSite site;
    std::vector<Work> list;
    const cudaError_t status = in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        if (!is_executable(graph)) return cudaErrorInvalidValue;
        if (find_capture(id) != nullptr) return refuse_in_capture(id);
        for (const auto& step : graph->steps) {
            const auto* allocation = std::get_if<AllocationWork>(&step.work);
            if (allocation != nullptr && is_allocated(allocation->parameters.dptr)) {
                if ((graph->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) return cudaErrorInvalidValue;
                list.insert(list.begin(), FreeWork{allocation->parameters.dptr});
            }
            if (step.enabled) list.push_back(step.work);
        }
        return cudaSuccess;
    });
    if (status != cudaSuccess) return status;
    for (const Work& work : list)
        if (const cudaError_t failure = run(work, stream); failure != cudaSuccess) return failure;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream) {
    return in_stream(stream, [&](std::uint32_t) { return is_executable(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t* result, cudaGraph_t graph,
                                                     cudaGraphInstantiateParams* parameters) {
    if (parameters == nullptr) return remember(cudaErrorInvalidValue);
    const cudaError_t status = cudaGraphInstantiate(result, graph, parameters->flags);
    parameters->errNode_out = nullptr;
    parameters->result_out = status == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return status;
}

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    return in_stream(stream,
                     [&](std::uint32_t id) { return begin_capture(id, is_blocking(stream), nullptr, nullptr, 0); });
}

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                                    std::size_t count, cudaStreamCaptureMode) {
    return in_stream(stream, [&](std::uint32_t id) {
        return graph == nullptr ? cudaErrorInvalidValue
                                : begin_capture(id, is_blocking(stream), graph, dependencies, count);
    });
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return in_stream(stream, [&](std::uint32_t id) { return end_capture(id, graph); });
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return in_stream(stream, [&](std::uint32_t id) {
        if (status == nullptr) return cudaErrorInvalidValue;
        const CapturingStream* found = find_capture(id);
        *status = found == nullptr        ? cudaStreamCaptureStatusNone
                  : found->capture->valid ? cudaStreamCaptureStatusActive
                                          : cudaStreamCaptureStatusInvalidated;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* number, cudaGraph_t* graph,
                                               const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                               std::size_t* count) {
    if (const cudaError_t failure = cudaStreamIsCapturing(stream, status); failure != cudaSuccess) return failure;
    return in_stream(stream, [&](std::uint32_t id) {
        const CapturingStream* found = find_capture(id);
        if (found == nullptr) return cudaSuccess;
        if (number != nullptr) *number = found->capture->id;
        if (graph != nullptr) *graph = found->capture->graph;
        if (dependencies != nullptr) *dependencies = found->last.data();
        if (edges != nullptr) *edges = nullptr;
        if (count != nullptr) *count = found->last.size();
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                          const cudaGraphEdgeData*, std::size_t count,
                                                          unsigned int flags) {
    return in_stream(stream, [&](std::uint32_t id) {
        CapturingStream* found = find_capture(id);
        if (found == nullptr) return cudaErrorIllegalState;
        if (dependencies == nullptr && count > 0) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i)
            if (!is_node(dependencies[i]) || dependencies[i]->graph != found->capture->graph)
                return cudaErrorInvalidValue;
        if (flags == cudaStreamSetCaptureDependencies) found->last.clear();
        for (std::size_t i = 0; i < count; ++i)
            if (std::find(found->last.begin(), found->last.end(), dependencies[i]) == found->last.end())
                found->last.push_back(dependencies[i]);
        return cudaSuccess;
    });
}
