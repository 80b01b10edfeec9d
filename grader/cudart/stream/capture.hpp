// Stream capture: work of a stream becomes nodes of a graph instead of running.
#pragma once

#include <memory>

#include "cudart/stream/graph.hpp"

namespace warpgrade::cudart {

// A capture begins in one stream; other streams join by waiting for its events.
struct Capture {
    cudaGraph_t graph = nullptr;
    unsigned long long id = 0;
    std::uint32_t origin = 0;  // the stream in which it began
    bool blocking = true;      // the legacy stream would wait for it
    bool own_graph = true;     // made for this capture
    bool valid = true;
};

struct CapturingStream {
    std::shared_ptr<Capture> capture;
    std::vector<cudaGraphNode_t> last;  // dependencies of its next node
};

// Null if the stream is not in a capture.
CapturingStream* find_capture(std::uint32_t stream);
// Adds work to the stream's capture.
cudaError_t capture_work(CapturingStream& stream, Work work);
// Waiting for a capturing stream is an error, which invalidates the capture.
cudaError_t refuse_in_capture(std::uint32_t stream);
cudaError_t refuse_in_any_capture();
// An error if the legacy stream would have to wait for a capturing one.
cudaError_t check_legacy_stream(std::uint32_t stream);

cudaError_t begin_capture(std::uint32_t stream, bool blocking, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                          std::size_t count);
cudaError_t end_capture(std::uint32_t stream, cudaGraph_t* graph);

// Both return true if the event belongs to a capture; then the caller has nothing else to do.
bool capture_record(std::uint32_t stream, cudaEvent_t event);
bool capture_wait(std::uint32_t stream, cudaEvent_t event, cudaError_t& status);

void forget_captures();

}  // namespace warpgrade::cudart
