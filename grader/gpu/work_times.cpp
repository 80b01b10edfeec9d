#include "gpu/work_times.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {
namespace {

constexpr std::size_t max_pieces = 4096;  // before their times are read and their events used again
// Of a GPU that was idle, and of one that has just worked and keeps its clock for a while.
constexpr auto warm_up_time = std::chrono::milliseconds(20), short_warm_up_time = std::chrono::milliseconds(2),
               clock_stays = std::chrono::milliseconds(200);

}  // namespace

WorkTimes::WorkTimes(std::uint64_t l2_bytes, unsigned multiprocessors)
    : scratch_bytes_(2 * l2_bytes), clock_(multiprocessors) {
    const Driver& cuda = driver();
    check(cuda.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "a stream");
    check(cuda.cuEventCreate(&origin_, CU_EVENT_DEFAULT), "an event");
    check(cuda.cuMemAlloc(&scratch_, scratch_bytes_), "memory that fills L2");
    check(cuda.cuEventRecord(origin_, stream_), "recording an event");
}

WorkTimes::~WorkTimes() {
    const Driver& cuda = driver();
    for (const Piece& piece : pieces_) unused_.insert(unused_.end(), {piece.start, piece.end});
    for (const CUevent event : unused_) cuda.cuEventDestroy(event);
    cuda.cuEventDestroy(origin_);
    cuda.cuStreamDestroy(stream_);
    cuda.cuMemFree(scratch_);
}

// An idle GPU lowers its clock, and takes milliseconds of work to raise it again.
void WorkTimes::warm_up() {
    const Driver& cuda = driver();
    const auto begin = std::chrono::steady_clock::now();
    const auto least = worked_ && begin - *worked_ < clock_stays ? short_warm_up_time : warm_up_time;
    do {
        check(cuda.cuMemsetD8Async(scratch_, 0, scratch_bytes_, stream_), "filling L2");
        check(cuda.cuStreamSynchronize(stream_), "filling L2");
    } while (std::chrono::steady_clock::now() - begin < least);
    clock_.read_start(stream_);
    check(cuda.cuStreamSynchronize(stream_), "reading the clock");
    check(cuda.cuEventRecord(origin_, stream_), "recording an event");
    warm_ = true;
}

WorkTimes::Piece WorkTimes::begin(Kind kind) {
    const Driver& cuda = driver();
    if (!warm_) warm_up();
    if (pieces_.size() >= max_pieces) {
        check(cuda.cuCtxSynchronize(), "waiting for the device");
        settle();
    }
    while (unused_.size() < 2) {
        CUevent event = nullptr;
        check(cuda.cuEventCreate(&event, CU_EVENT_DEFAULT), "an event");
        unused_.push_back(event);
    }
    const Piece piece{unused_[unused_.size() - 1], unused_[unused_.size() - 2], kind};
    unused_.resize(unused_.size() - 2);
    return piece;
}

CUresult WorkTimes::run(Kind kind, CUstream stream, const std::function<CUresult(CUstream)>& issue) {
    const Driver& cuda = driver();
    const Piece piece = begin(kind);
    CUresult status = CUDA_SUCCESS;
    if (kind == Kind::cooperative_launch) {  // which no graph takes
        status = cuda.cuEventRecord(piece.start, stream);
        if (status == CUDA_SUCCESS) status = issue(stream);
        if (status == CUDA_SUCCESS) status = cuda.cuEventRecord(piece.end, stream);
    } else {
        status = run_as_graph(piece, stream, issue);
    }
    if (status == CUDA_SUCCESS)
        pieces_.push_back(piece);
    else
        unused_.insert(unused_.end(), {piece.start, piece.end});
    return status;
}

// The GPU gets a graph as a whole: a host that is interrupted between the work and its events would lengthen the time.
CUresult WorkTimes::run_as_graph(const Piece& piece, CUstream stream, const std::function<CUresult(CUstream)>& issue) {
    const Driver& cuda = driver();
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    CUresult status = cuda.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (status != CUDA_SUCCESS) return status;
    status = cuda.cuEventRecordWithFlags(piece.start, stream_, CU_EVENT_RECORD_EXTERNAL);
    if (status == CUDA_SUCCESS) status = issue(stream_);
    if (status == CUDA_SUCCESS) status = cuda.cuEventRecordWithFlags(piece.end, stream_, CU_EVENT_RECORD_EXTERNAL);
    const CUresult captured = cuda.cuStreamEndCapture(stream_, &graph);
    if (status == CUDA_SUCCESS) status = captured;
    if (status == CUDA_SUCCESS) status = cuda.cuGraphInstantiate(&ready, graph, 0);
    if (status == CUDA_SUCCESS) status = cuda.cuGraphUpload(ready, stream);
    if (status == CUDA_SUCCESS) status = cuda.cuGraphLaunch(ready, stream);
    if (ready) cuda.cuGraphExecDestroy(ready);  // takes effect when it has run
    if (graph) cuda.cuGraphDestroy(graph);
    return status;
}

void WorkTimes::settle() {
    const Driver& cuda = driver();
    for (const auto& [start, end, kind] : std::exchange(pieces_, {})) {
        unused_.insert(unused_.end(), {start, end});
        float start_ms = 0, end_ms = 0;
        // After a fault of a kernel no time is known.
        if (cuda.cuEventElapsedTime(&start_ms, origin_, start) != CUDA_SUCCESS ||
            cuda.cuEventElapsedTime(&end_ms, origin_, end) != CUDA_SUCCESS)
            continue;
        const Interval when{1e6 * double{start_ms}, 1e6 * double{end_ms}};
        busy_.push_back(when);
        if (kind != Kind::transfer) launches_.push_back({when.start_ns, when.end_ns - when.start_ns});
    }
    std::ranges::sort(busy_, {}, &Interval::start_ns);
    std::size_t kept = 0;
    for (const Interval& next : busy_) {
        if (kept > 0 && next.start_ns <= busy_[kept - 1].end_ns)
            busy_[kept - 1].end_ns = std::max(busy_[kept - 1].end_ns, next.end_ns);
        else
            busy_[kept++] = next;
    }
    busy_.resize(kept);
}

double WorkTimes::finish() {
    const Driver& cuda = driver();
    clock_ghz_.reset();
    if (warm_ && cuda.cuCtxSynchronize() == CUDA_SUCCESS) {  // after a fault nothing can be read
        clock_.read_end(stream_);
        check(cuda.cuStreamSynchronize(stream_), "reading the clock");
        clock_ghz_ = clock_.mean_ghz();
    }
    settle();
    double total = 0;
    for (const Interval& each : std::exchange(busy_, {})) total += each.end_ns - each.start_ns;
    warm_ = false;
    worked_ = std::chrono::steady_clock::now();
    return total;
}

}  // namespace warpgrade::gpu
