// Graphs as a whole: making, walking, instantiating, updating them.
#include <algorithm>
#include <utility>

#include "cudart/client/errors.hpp"
#include "cudart/stream/graph.hpp"

using namespace warpgrade::cudart;

namespace {

// Fills the caller's list; without one, only returns the count.
template <class Range, class T>
cudaError_t list_out(const Range& found, T* list, std::size_t* count) {
    if (count == nullptr) return cudaErrorInvalidValue;
    if (list != nullptr) {
        const std::size_t room = *count;
        for (std::size_t i = 0; i < room; ++i) list[i] = i < found.size() ? found[i] : nullptr;
        *count = std::min(room, found.size());
        return cudaSuccess;
    }
    *count = found.size();
    return cudaSuccess;
}

template <class Body>
cudaError_t with_graph(cudaGraph_t graph, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t { return is_graph(graph) ? body() : cudaErrorInvalidValue; });
}

template <class Body>
cudaError_t with_node(cudaGraphNode_t node, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t { return is_node(node) ? body() : cudaErrorInvalidValue; });
}

cudaError_t check_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count) {
    if (count > 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
        if (!is_node(from[i]) || !is_node(to[i]) || from[i]->graph != graph || to[i]->graph != graph)
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

}  // namespace

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
    return device_api([&](Connection&) {
        if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
        *graph = make_graph();
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
    return with_graph(graph, [&] {
        if (graph->owned) return cudaErrorInvalidValue;
        destroy_graph(graph);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
    return with_graph(graph, [&] {
        if (clone == nullptr) return cudaErrorInvalidValue;
        if (has_memory_nodes(*graph)) return cudaErrorNotSupported;
        *clone = clone_graph(graph);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t* result, cudaGraphNode_t original, cudaGraph_t clone) {
    return with_graph(clone, [&] {
        if (result == nullptr) return cudaErrorInvalidValue;
        for (const auto& node : clone->nodes)
            if (node->original == original) return *result = node.get(), cudaSuccess;
        return cudaErrorInvalidValue;
    });
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> found;
        for (const auto& node : graph->nodes) found.push_back(node.get());
        return list_out(found, nodes, count);
    });
}

cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> found;
        for (const auto& node : graph->nodes)
            if (node->dependencies.empty()) found.push_back(node.get());
        return list_out(found, nodes, count);
    });
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                        cudaGraphEdgeData* data, std::size_t* count) {
    return with_graph(graph, [&]() -> cudaError_t {
        if (count == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> sources, targets;
        for (const auto& node : graph->nodes)
            for (CUgraphNode_st* dependency : node->dependencies) {
                sources.push_back(dependency);
                targets.push_back(node.get());
            }
        std::size_t room = *count;
        list_out(sources, from, &room);
        if (data != nullptr) std::fill_n(data, room, cudaGraphEdgeData{});
        return list_out(targets, to, count);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                   cudaGraphEdgeData* data, std::size_t* count) {
    return with_node(node, [&] {
        if (data != nullptr && count != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
        return list_out(node->dependencies, nodes, count);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                     cudaGraphEdgeData* data, std::size_t* count) {
    return with_node(node, [&] {
        std::vector<cudaGraphNode_t> found;
        for (const auto& other : node->graph->nodes)
            if (std::find(other->dependencies.begin(), other->dependencies.end(), node) != other->dependencies.end())
                found.push_back(other.get());
        if (data != nullptr && count != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
        return list_out(found, nodes, count);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    return with_node(node, [&] {
        if (type == nullptr) return cudaErrorInvalidValue;
        *type = type_of(node->work);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, const cudaGraphEdgeData*, std::size_t count) {
    return with_graph(graph, [&]() -> cudaError_t {
        if (const cudaError_t status = check_edges(graph, from, to, count); status != cudaSuccess) return status;
        for (std::size_t i = 0; i < count; ++i) {
            auto& list = to[i]->dependencies;
            if (from[i] == to[i] || std::find(list.begin(), list.end(), from[i]) != list.end())
                return cudaErrorInvalidValue;
            list.push_back(from[i]);
        }
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                  std::size_t count) {
    return with_graph(graph, [&]() -> cudaError_t {
        if (const cudaError_t status = check_edges(graph, from, to, count); status != cudaSuccess) return status;
        for (std::size_t i = 0; i < count; ++i)
            if (std::erase(to[i]->dependencies, from[i]) == 0) return cudaErrorInvalidValue;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node) {
    return with_node(node, [&] {
        if (std::holds_alternative<AllocationWork>(node->work) || std::holds_alternative<FreeWork>(node->work))
            return cudaErrorNotSupported;
        destroy_node(node);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long flags) {
    return device_api([&](Connection&) -> cudaError_t {
        if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return not_supported("graphs launched by kernels");
        return instantiate(result, graph, flags);
    });
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                                    unsigned long long flags) {
    return cudaGraphInstantiate(result, graph, flags);
}

cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t graph, unsigned long long* flags) {
    return device_api([&](Connection&) {
        if (!is_executable(graph) || flags == nullptr) return cudaErrorInvalidValue;
        *flags = graph->flags;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graph) {
    return device_api([&](Connection&) { return destroy_executable(graph); });
}

// The new graph must have the same nodes with the same dependencies; what they do may differ.
cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                          cudaGraphExecUpdateResultInfo* result) {
    return device_api([&](Connection&) -> cudaError_t {
        if (!is_executable(executable) || result == nullptr) return cudaErrorInvalidValue;
        *result = {};
        const auto fail = [&](cudaGraphExecUpdateResult what) {
            result->result = what;
            return cudaErrorGraphExecUpdateFailure;
        };
        cudaGraphExec_t fresh = nullptr;
        if (const cudaError_t status = instantiate(&fresh, graph, 0); status != cudaSuccess) return status;
        const auto position = [](const CUgraphExec_st& exec, const CUgraphNode_st* node) {
            std::size_t i = 0;
            while (i < exec.steps.size() && exec.steps[i].node != node) ++i;
            return i;
        };
        cudaGraphExecUpdateResult outcome = cudaGraphExecUpdateSuccess;
        if (fresh->steps.size() != executable->steps.size()) outcome = cudaGraphExecUpdateErrorTopologyChanged;
        for (std::size_t i = 0; i < fresh->steps.size() && outcome == cudaGraphExecUpdateSuccess; ++i) {
            const auto &before = executable->steps[i], &after = fresh->steps[i];
            if (type_of(before.work) != type_of(after.work))
                outcome = cudaGraphExecUpdateErrorNodeTypeChanged;
            else if (before.dependencies.size() != after.dependencies.size())
                outcome = cudaGraphExecUpdateErrorTopologyChanged;
            for (std::size_t d = 0; d < before.dependencies.size() && outcome == cudaGraphExecUpdateSuccess; ++d)
                if (position(*executable, before.dependencies[d]) != position(*fresh, after.dependencies[d]))
                    outcome = cudaGraphExecUpdateErrorTopologyChanged;
        }
        // The steps are still identified by the nodes of the original graph.
        for (std::size_t i = 0; i < fresh->steps.size() && outcome == cudaGraphExecUpdateSuccess; ++i)
            executable->steps[i].work = fresh->steps[i].work;
        destroy_executable(fresh);
        return outcome == cudaGraphExecUpdateSuccess ? cudaSuccess : fail(outcome);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t graph, cudaGraphNode_t node, unsigned int enabled) {
    return device_api([&](Connection&) {
        auto* step = find_step(graph, node);
        if (step == nullptr) return cudaErrorInvalidValue;
        step->enabled = enabled != 0;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t graph, cudaGraphNode_t node, unsigned int* enabled) {
    return device_api([&](Connection&) {
        const auto* step = find_step(graph, node);
        if (step == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
        *enabled = step->enabled ? 1 : 0;
        return cudaSuccess;
    });
}

// Captures do not affect other threads here, so the mode is only stored.
cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (mode == nullptr) return remember(cudaErrorInvalidValue);
    std::swap(*mode, current);
    return cudaSuccess;
}
