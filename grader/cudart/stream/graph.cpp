#include "cudart/stream/graph.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "cudart/state/pools.hpp"

namespace warpgrade::cudart {
namespace {

struct Graphs {
    std::unordered_map<cudaGraph_t, std::unique_ptr<CUgraph_st>> graphs;
    std::unordered_map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>> executables;
    std::unordered_set<cudaGraphNode_t> nodes;
};

Graphs& all() {
    static Graphs& result = *new Graphs;
    return result;
}

// The steps of a child graph follow the step of its node.
cudaError_t add_steps(const CUgraph_st& graph, std::vector<CUgraphExec_st::Step>& steps, unsigned depth) {
    constexpr unsigned max_depth = 64;
    std::vector<const CUgraphNode_st*> order;
    if (depth > max_depth || !sort_nodes(graph, order)) return cudaErrorInvalidValue;
    for (const CUgraphNode_st* node : order) {
        CUgraphExec_st::Step step;
        step.node = node;
        step.dependencies.assign(node->dependencies.begin(), node->dependencies.end());
        const auto* child = std::get_if<cudaGraph_t>(&node->work);
        if (child == nullptr) step.work = node->work;
        steps.push_back(std::move(step));
        if (child == nullptr) continue;
        if (const cudaError_t status = add_steps(**child, steps, depth + 1); status != cudaSuccess) return status;
    }
    return cudaSuccess;
}

}  // namespace

bool is_graph(cudaGraph_t graph) { return all().graphs.count(graph) != 0; }
bool is_node(cudaGraphNode_t node) { return all().nodes.count(node) != 0; }
bool is_executable(cudaGraphExec_t graph) { return all().executables.count(graph) != 0; }

cudaGraph_t make_graph() {
    auto graph = std::make_unique<CUgraph_st>();
    cudaGraph_t handle = graph.get();
    all().graphs[handle] = std::move(graph);
    return handle;
}

void destroy_graph(cudaGraph_t graph) {
    const auto found = all().graphs.find(graph);
    if (found == all().graphs.end()) return;
    const std::unique_ptr<CUgraph_st> dying = std::move(found->second);
    all().graphs.erase(found);
    for (const auto& node : dying->nodes) {
        if (const auto* child = std::get_if<cudaGraph_t>(&node->work)) destroy_graph(*child);
        all().nodes.erase(node.get());
    }
}

cudaGraph_t clone_graph(cudaGraph_t graph) {
    cudaGraph_t copy = make_graph();
    std::unordered_map<const CUgraphNode_st*, cudaGraphNode_t> twins;
    for (const auto& node : graph->nodes) {
        cudaGraphNode_t twin = nullptr;
        Work work = node->work;
        if (auto* child = std::get_if<cudaGraph_t>(&work)) *child = clone_graph(*child), (*child)->owned = true;
        add_node(copy, nullptr, 0, std::move(work), &twin);
        twin->original = node.get();
        twins[node.get()] = twin;
    }
    for (const auto& node : graph->nodes)
        for (const CUgraphNode_st* dependency : node->dependencies)
            twins[node.get()]->dependencies.push_back(twins[dependency]);
    return copy;
}

cudaError_t add_node(cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count, Work work,
                     cudaGraphNode_t* result) {
    if (!is_graph(graph) || (dependencies == nullptr && count > 0)) return cudaErrorInvalidValue;
    auto node = std::make_unique<CUgraphNode_st>();
    for (std::size_t i = 0; i < count; ++i) {
        const auto& earlier = node->dependencies;
        if (!is_node(dependencies[i]) || dependencies[i]->graph != graph ||
            std::find(earlier.begin(), earlier.end(), dependencies[i]) != earlier.end())
            return cudaErrorInvalidValue;
        node->dependencies.push_back(dependencies[i]);
    }
    node->work = std::move(work);
    if (auto* kernel = std::get_if<KernelWork>(&node->work)) kernel->point_to_arguments();
    node->graph = graph;
    if (result != nullptr) *result = node.get();
    all().nodes.insert(node.get());
    graph->nodes.push_back(std::move(node));
    return cudaSuccess;
}

void destroy_node(cudaGraphNode_t node) {
    CUgraph_st& graph = *node->graph;
    for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
    if (const auto* child = std::get_if<cudaGraph_t>(&node->work)) destroy_graph(*child);
    all().nodes.erase(node);
    std::erase_if(graph.nodes, [&](const auto& other) { return other.get() == node; });
}

bool sort_nodes(const CUgraph_st& graph, std::vector<const CUgraphNode_st*>& order) {
    std::unordered_set<const CUgraphNode_st*> done;
    order.clear();
    while (order.size() < graph.nodes.size()) {
        const std::size_t before = order.size();
        for (const auto& node : graph.nodes) {
            const auto ready = [&](const CUgraphNode_st* dependency) { return done.count(dependency) != 0; };
            if (done.count(node.get()) != 0 ||
                !std::all_of(node->dependencies.begin(), node->dependencies.end(), ready))
                continue;
            done.insert(node.get());
            order.push_back(node.get());
        }
        if (order.size() == before) return false;
    }
    return true;
}

cudaError_t instantiate(cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long flags) {
    if (result == nullptr || !is_graph(graph)) return cudaErrorInvalidValue;
    auto made = std::make_unique<CUgraphExec_st>();
    if (const cudaError_t status = add_steps(*graph, made->steps, 0); status != cudaSuccess) return status;
    made->flags = flags;
    *result = made.get();
    all().executables[*result] = std::move(made);
    return cudaSuccess;
}

cudaError_t destroy_executable(cudaGraphExec_t graph) {
    return all().executables.erase(graph) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

CUgraphExec_st::Step* find_step(cudaGraphExec_t graph, cudaGraphNode_t node) {
    if (!is_executable(graph)) return nullptr;
    for (CUgraphExec_st::Step& step : graph->steps)
        if (step.node == node) return &step;
    return nullptr;
}

cudaGraphNodeType type_of(const Work& work) {
    if (const auto* event = std::get_if<EventWork>(&work))
        return event->wait ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
    constexpr cudaGraphNodeType types[] = {
        cudaGraphNodeTypeEmpty,  cudaGraphNodeTypeKernel,   cudaGraphNodeTypeMemcpy,
        cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost,     cudaGraphNodeTypeEventRecord,
        cudaGraphNodeTypeGraph,  cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree};
    return types[work.index()];
}

bool has_memory_nodes(const CUgraph_st& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        return std::holds_alternative<AllocationWork>(node->work) || std::holds_alternative<FreeWork>(node->work);
    });
}

cudaError_t make_free_work(const CUgraph_st& graph, void* pointer, Work& work) {
    const bool is_freed = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
        const auto* free = std::get_if<FreeWork>(&node->work);
        return free != nullptr && free->pointer == pointer;
    });
    if (is_freed || !is_reserved(pointer)) return cudaErrorInvalidValue;
    work = FreeWork{pointer};
    return cudaSuccess;
}

cudaError_t make_kernel_work(const cudaKernelNodeParams& parameters, KernelWork& work) {
    if (parameters.extra != nullptr) return cudaErrorInvalidValue;  // for the driver API
    if (const cudaError_t status = Registry::get().find_kernel(parameters.func, work.kernel); status != cudaSuccess)
        return status == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : status;
    work.function = parameters.func;
    work.grid = parameters.gridDim, work.block = parameters.blockDim;
    work.shared_bytes = parameters.sharedMemBytes;
    return work.take_arguments(parameters.kernelParams);
}

void forget_graphs() {
    all().executables.clear();
    all().graphs.clear();
    all().nodes.clear();
}

}  // namespace warpgrade::cudart
