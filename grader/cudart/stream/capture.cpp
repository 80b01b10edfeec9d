#include "cudart/stream/capture.hpp"

#include <algorithm>
#include <unordered_map>

namespace warpgrade::cudart {
namespace {

struct Captures {
    std::unordered_map<std::uint32_t, CapturingStream> streams;
    std::unordered_map<cudaEvent_t, CapturingStream> events;  // recorded in a capture
    unsigned long long next_id = 1;
};

Captures& captures() {
    static Captures& all = *new Captures;
    return all;
}

void forget(const std::shared_ptr<Capture>& capture) {
    std::erase_if(captures().streams, [&](const auto& entry) { return entry.second.capture == capture; });
    std::erase_if(captures().events, [&](const auto& entry) { return entry.second.capture == capture; });
}

// True if every branch of the capture has joined the stream in which it began.
bool is_joined(const CapturingStream& origin) {
    std::vector<const CUgraphNode_st*> pending(origin.last.begin(), origin.last.end()), reached;
    while (!pending.empty()) {
        const CUgraphNode_st* node = pending.back();
        pending.pop_back();
        if (std::find(reached.begin(), reached.end(), node) != reached.end()) continue;
        reached.push_back(node);
        pending.insert(pending.end(), node->dependencies.begin(), node->dependencies.end());
    }
    for (const auto& [stream, state] : captures().streams)
        for (const cudaGraphNode_t node : state.last)
            if (state.capture == origin.capture && std::find(reached.begin(), reached.end(), node) == reached.end())
                return false;
    return true;
}

}  // namespace

CapturingStream* find_capture(std::uint32_t stream) {
    const auto found = captures().streams.find(stream);
    return found == captures().streams.end() ? nullptr : &found->second;
}

cudaError_t capture_work(CapturingStream& stream, Work work) {
    if (!stream.capture->valid) return cudaErrorStreamCaptureInvalidated;
    cudaGraphNode_t node = nullptr;
    const cudaError_t status =
        add_node(stream.capture->graph, stream.last.data(), stream.last.size(), std::move(work), &node);
    if (status == cudaSuccess) stream.last = {node};
    return status;
}

cudaError_t refuse_in_capture(std::uint32_t stream) {
    CapturingStream* found = find_capture(stream);
    if (found == nullptr) return cudaSuccess;
    found->capture->valid = false;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_in_any_capture() {
    if (captures().streams.empty()) return cudaSuccess;
    for (auto& [stream, state] : captures().streams) state.capture->valid = false;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t check_legacy_stream(std::uint32_t stream) {
    if (stream != 0) return cudaSuccess;
    cudaError_t status = cudaSuccess;
    for (auto& [other, state] : captures().streams)
        if (state.capture->blocking) state.capture->valid = false, status = cudaErrorStreamCaptureImplicit;
    return status;
}

cudaError_t begin_capture(std::uint32_t stream, bool blocking, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                          std::size_t count) {
    if (stream == 0) return cudaErrorStreamCaptureUnsupported;
    if (find_capture(stream) != nullptr) return cudaErrorIllegalState;
    if ((graph != nullptr && !is_graph(graph)) || (dependencies == nullptr && count > 0)) return cudaErrorInvalidValue;
    auto capture = std::make_shared<Capture>();
    capture->own_graph = graph == nullptr;
    capture->graph = graph == nullptr ? make_graph() : graph;
    capture->id = captures().next_id++;
    capture->origin = stream;
    capture->blocking = blocking;
    captures().streams[stream] = {capture, {dependencies, dependencies + count}};
    return cudaSuccess;
}

cudaError_t end_capture(std::uint32_t stream, cudaGraph_t* graph) {
    CapturingStream* found = find_capture(stream);
    if (graph == nullptr) return cudaErrorInvalidValue;
    *graph = nullptr;
    if (found == nullptr) return cudaErrorIllegalState;
    const std::shared_ptr<Capture> capture = found->capture;
    if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    const cudaError_t status = !capture->valid      ? cudaErrorStreamCaptureInvalidated
                               : !is_joined(*found) ? cudaErrorStreamCaptureUnjoined
                                                    : cudaSuccess;
    forget(capture);
    if (status == cudaSuccess)
        *graph = capture->graph;
    else if (capture->own_graph)
        destroy_graph(capture->graph);
    return status;
}

bool capture_record(std::uint32_t stream, cudaEvent_t event) {
    captures().events.erase(event);
    const CapturingStream* found = find_capture(stream);
    if (found != nullptr) captures().events[event] = *found;
    return found != nullptr;
}

bool capture_wait(std::uint32_t stream, cudaEvent_t event, cudaError_t& status) {
    status = cudaSuccess;
    const auto recorded = captures().events.find(event);
    CapturingStream* own = find_capture(stream);
    if (recorded == captures().events.end()) {
        // A captured stream cannot wait for work before the capture.
        if (own != nullptr) own->capture->valid = false, status = cudaErrorStreamCaptureIsolation;
        return own != nullptr;
    }
    if (own != nullptr && own->capture != recorded->second.capture) return status = cudaErrorStreamCaptureMerge, true;
    CapturingStream& joining = captures().streams[stream];
    joining.capture = recorded->second.capture;
    for (const cudaGraphNode_t node : recorded->second.last)
        if (std::find(joining.last.begin(), joining.last.end(), node) == joining.last.end())
            joining.last.push_back(node);
    return true;
}

void forget_captures() {
    captures().streams.clear();
    captures().events.clear();
}

}  // namespace warpgrade::cudart
