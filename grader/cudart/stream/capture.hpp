// Streams whose work is not done but written into a graph.
#pragma once

#include <memory>

#include "cudart/stream/graph.hpp"

namespace warpgrade::cudart {

// A capture: begun in one stream, joined by others that wait for its events.
struct Capture {
    cudaGraph_t graph = nullptr;
    unsigned long long id = 0;
    std::uint32_t origin = 0;  // the stream that began it
    bool blocking = true;      // work of the legacy stream would wait for it
    bool own_graph = true;     // made for this capture
    bool valid = true;
};

struct CapturingStream {
    std::shared_ptr<Capture> capture;
    std::vector<cudaGraphNode_t> last;  // what its next node depends on
};

// The capture that the stream takes part in, or null.
CapturingStream* find_capture(std::uint32_t stream);
// Adds work to the stream's capture.
cudaError_t capture_work(CapturingStream& stream, Work work);
// Waiting for a stream that captures is an error, which spoils the capture.
cudaError_t refuse_in_capture(std::uint32_t stream);
cudaError_t refuse_in_any_capture();
// Work in the legacy stream would have to wait for capturing ones.
cudaError_t check_legacy_stream(std::uint32_t stream);

cudaError_t begin_capture(std::uint32_t stream, bool blocking, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                          std::size_t count);
cudaError_t end_capture(std::uint32_t stream, cudaGraph_t* graph);

// Events of captures: true if that is all there is to do.
bool capture_record(std::uint32_t stream, cudaEvent_t event);
bool capture_wait(std::uint32_t stream, cudaEvent_t event, cudaError_t& status);

void forget_captures();

}  // namespace warpgrade::cudart
