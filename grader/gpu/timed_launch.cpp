#include "gpu/timed_launch.hpp"

#include <vector>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {
namespace {

// The parameters as the driver takes them. It reads them before the launching function returns.
struct Parameters {
    explicit Parameters(std::span<const std::byte> params) : block(params.begin(), params.end()), bytes(block.size()) {}
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;
    std::vector<std::byte> block;
    std::size_t bytes;
    void* list[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    [[nodiscard]] void** get() { return bytes > 0 ? list : nullptr; }
};

// As a graph, which the GPU gets as a whole: a host that is interrupted between the three would lengthen the time.
class Graph {
  public:
    Graph(const CUDA_KERNEL_NODE_PARAMS& kernel, const WorkTimes::Events& events) {
        CUgraphNode start = nullptr, run = nullptr, end = nullptr;
        status_ = cuda_.cuGraphCreate(&graph_, 0);
        if (ok()) status_ = cuda_.cuGraphAddEventRecordNode(&start, graph_, nullptr, 0, events.start);
        if (ok()) status_ = cuda_.cuGraphAddKernelNode(&run, graph_, &start, 1, &kernel);
        if (ok()) status_ = cuda_.cuGraphAddEventRecordNode(&end, graph_, &run, 1, events.end);
        if (ok()) status_ = cuda_.cuGraphInstantiate(&ready_, graph_, 0);
    }
    ~Graph() {
        if (ready_) cuda_.cuGraphExecDestroy(ready_);  // takes effect when it has run
        if (graph_) cuda_.cuGraphDestroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    CUresult launch(CUstream stream) {
        if (ok()) status_ = cuda_.cuGraphUpload(ready_, stream);
        if (ok()) status_ = cuda_.cuGraphLaunch(ready_, stream);
        return status_;
    }

  private:
    [[nodiscard]] bool ok() const { return status_ == CUDA_SUCCESS; }
    const Driver& cuda_ = driver();
    CUgraph graph_ = nullptr;
    CUgraphExec ready_ = nullptr;
    CUresult status_ = CUDA_SUCCESS;
};

// One after the other: a graph refuses cooperative kernels.
CUresult launch_cooperative(const Kernel& kernel, const device::LaunchConfig& config, void** params, CUstream stream,
                            const WorkTimes::Events& events) {
    const Driver& cuda = driver();
    CUlaunchAttribute cooperative{};
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
    CUlaunchConfig launch{};
    launch.gridDimX = config.grid.x, launch.gridDimY = config.grid.y, launch.gridDimZ = config.grid.z;
    launch.blockDimX = config.block.x, launch.blockDimY = config.block.y, launch.blockDimZ = config.block.z;
    launch.sharedMemBytes = static_cast<unsigned>(config.dynamic_shared_bytes);
    launch.hStream = stream;
    launch.attrs = &cooperative;
    launch.numAttrs = 1;
    CUresult status = cuda.cuEventRecord(events.start, stream);
    if (status == CUDA_SUCCESS) status = cuda.cuLaunchKernelEx(&launch, kernel.handle, nullptr, params);
    if (status == CUDA_SUCCESS) status = cuda.cuEventRecord(events.end, stream);
    return status;
}

}  // namespace

CUresult launch_timed(const Kernel& kernel, const device::LaunchConfig& config, std::span<const std::byte> params,
                      CUstream stream, const WorkTimes::Events& events) {
    Parameters parameters(params);
    if (config.cooperative) return launch_cooperative(kernel, config, parameters.get(), stream, events);
    CUDA_KERNEL_NODE_PARAMS node{};
    node.func = kernel.handle;
    node.gridDimX = config.grid.x, node.gridDimY = config.grid.y, node.gridDimZ = config.grid.z;
    node.blockDimX = config.block.x, node.blockDimY = config.block.y, node.blockDimZ = config.block.z;
    node.sharedMemBytes = static_cast<unsigned>(config.dynamic_shared_bytes);
    node.extra = parameters.get();
    return Graph(node, events).launch(stream);
}

}  // namespace warpgrade::gpu
