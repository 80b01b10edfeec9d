// Nodes of graphs: adding them, and reading and changing their work, in a graph or an executable graph.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/pools.hpp"
#include "cudart/stream/graph.hpp"

using namespace warpgrade::cudart;

namespace {

template <class Make>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
                Make&& make) {
    return device_api([&](Connection&) -> cudaError_t {
        if (node == nullptr || !is_graph(graph)) return cudaErrorInvalidValue;
        Work work;
        if (const cudaError_t status = make(work); status != cudaSuccess) return status;
        return add_node(graph, dependencies, count, std::move(work), node);
    });
}

// Replaces the work of a node, or of its step in an executable graph, by work of the same kind.
template <class Make>
cudaError_t change(Work& old, Make&& make) {
    Work work;
    if (const cudaError_t status = make(work); status != cudaSuccess) return status;
    if (work.index() != old.index()) return cudaErrorInvalidValue;
    old = std::move(work);
    if (auto* kernel = std::get_if<KernelWork>(&old)) kernel->point_to_arguments();
    return cudaSuccess;
}

template <class Make>
cudaError_t change_node(cudaGraphNode_t node, Make&& make) {
    return device_api(
        [&](Connection&) -> cudaError_t { return is_node(node) ? change(node->work, make) : cudaErrorInvalidValue; });
}

template <class Make>
cudaError_t change_step(cudaGraphExec_t graph, cudaGraphNode_t node, Make&& make) {
    return device_api([&](Connection&) -> cudaError_t {
        auto* step = find_step(graph, node);
        return step == nullptr ? cudaErrorInvalidValue : change(step->work, make);
    });
}

// Calls body with the node's work if it is of that kind.
template <class Kind, class Body>
cudaError_t read_node(cudaGraphNode_t node, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t {
        const auto* work = is_node(node) ? std::get_if<Kind>(&node->work) : nullptr;
        return work == nullptr ? cudaErrorInvalidValue : body(*work);
    });
}

auto kernel(const cudaKernelNodeParams* parameters) {
    return [=](Work& work) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        return make_kernel_work(*parameters, work.emplace<KernelWork>());
    };
}

template <class Kind>
auto plain(const Kind* parameters) {
    return [=](Work& work) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        work = *parameters;
        return cudaSuccess;
    };
}

auto fill(const cudaMemsetParams* parameters) {
    return [=](Work& work) {
        if (parameters == nullptr || parameters->dst == nullptr || parameters->width == 0 || parameters->height == 0)
            return cudaErrorInvalidValue;
        const unsigned size = parameters->elementSize;
        if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
        work = *parameters;
        return cudaSuccess;
    };
}

auto host(const cudaHostNodeParams* parameters) {
    return [=](Work& work) {
        if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
        work = HostWork{parameters->fn, parameters->userData};
        return cudaSuccess;
    };
}

auto copy_1d(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind) {
    return [=](Work& work) {
        work = make_row_copy(destination, count, source, count, count, 1, kind);
        return cudaSuccess;
    };
}

// Copies to or from [offset, offset + count) of a variable.
auto copy_symbol(const void* symbol, std::size_t offset, const void* other, std::size_t count, cudaMemcpyKind kind,
                 bool to_symbol) {
    return [=](Work& work) -> cudaError_t {
        Variable* variable = nullptr;
        if (const cudaError_t status = Registry::get().find_variable(symbol, variable); status != cudaSuccess)
            return status;
        if (offset > variable->bytes || count > variable->bytes - offset) return cudaErrorInvalidValue;
        auto* address = reinterpret_cast<void*>(variable->address + offset);
        void* destination = to_symbol ? address : const_cast<void*>(other);
        return copy_1d(destination, to_symbol ? other : address, count, kind)(work);
    };
}

auto event(cudaEvent_t handle, bool wait) {
    return [=](Work& work) {
        work = EventWork{handle, wait};
        return cudaSuccess;
    };
}

auto child(cudaGraph_t graph) {
    return [=](Work& work) {
        if (!is_graph(graph)) return cudaErrorInvalidValue;
        if (has_memory_nodes(*graph)) return cudaErrorNotSupported;
        cudaGraph_t own = clone_graph(graph);
        own->owned = true;
        work = own;
        return cudaSuccess;
    };
}

auto allocation(cudaMemAllocNodeParams* parameters) {
    return [=](Work& work) -> cudaError_t {
        if (parameters == nullptr || parameters->poolProps.allocType != cudaMemAllocationTypePinned)
            return cudaErrorInvalidValue;
        const auto& properties = parameters->poolProps;
        if (properties.handleTypes != cudaMemHandleTypeNone)
            return not_supported("memory of graphs for other processes");
        if (properties.location.type != cudaMemLocationTypeDevice || properties.location.id != 0)
            return cudaErrorInvalidDevice;
        const cudaError_t status =
            reserve_for_graph(parameters->bytesize, "cudaGraphAddMemAllocNode", &parameters->dptr);
        if (status == cudaSuccess) work = AllocationWork{*parameters};
        return status;
    };
}

auto memory_free(cudaGraph_t graph, void* pointer) {
    return [=](Work& work) { return is_graph(graph) ? make_free_work(*graph, pointer, work) : cudaErrorInvalidValue; };
}

#define WG_ADD_ARGUMENTS \
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, std::size_t count

}  // namespace

cudaError_t CUDARTAPI cudaGraphAddKernelNode(WG_ADD_ARGUMENTS, const cudaKernelNodeParams* parameters) {
    return add(node, graph, dependencies, count, kernel(parameters));
}
cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(WG_ADD_ARGUMENTS, const cudaMemcpy3DParms* parameters) {
    return add(node, graph, dependencies, count, plain(parameters));
}
cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(WG_ADD_ARGUMENTS, void* destination, const void* source,
                                               std::size_t bytes, cudaMemcpyKind kind) {
    return add(node, graph, dependencies, count, copy_1d(destination, source, bytes, kind));
}
cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(WG_ADD_ARGUMENTS, const void* symbol, const void* source,
                                                     std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
    return add(node, graph, dependencies, count, copy_symbol(symbol, offset, source, bytes, kind, true));
}
cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(WG_ADD_ARGUMENTS, void* destination, const void* symbol,
                                                       std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
    return add(node, graph, dependencies, count, copy_symbol(symbol, offset, destination, bytes, kind, false));
}
cudaError_t CUDARTAPI cudaGraphAddMemsetNode(WG_ADD_ARGUMENTS, const cudaMemsetParams* parameters) {
    return add(node, graph, dependencies, count, fill(parameters));
}
cudaError_t CUDARTAPI cudaGraphAddHostNode(WG_ADD_ARGUMENTS, const cudaHostNodeParams* parameters) {
    return add(node, graph, dependencies, count, host(parameters));
}
cudaError_t CUDARTAPI cudaGraphAddEmptyNode(WG_ADD_ARGUMENTS) {
    return add(node, graph, dependencies, count, [](Work&) { return cudaSuccess; });
}
cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(WG_ADD_ARGUMENTS, cudaEvent_t handle) {
    return add(node, graph, dependencies, count, event(handle, false));
}
cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(WG_ADD_ARGUMENTS, cudaEvent_t handle) {
    return add(node, graph, dependencies, count, event(handle, true));
}
cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(WG_ADD_ARGUMENTS, cudaGraph_t inner) {
    return add(node, graph, dependencies, count, child(inner));
}

cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(WG_ADD_ARGUMENTS, cudaMemAllocNodeParams* parameters) {
    const CallSite site;
    return add(node, graph, dependencies, count, allocation(parameters));
}
cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(WG_ADD_ARGUMENTS, void* pointer) {
    return add(node, graph, dependencies, count, memory_free(graph, pointer));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
    return change_node(node, kernel(parameters));
}
cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
    return change_node(node, plain(parameters));
}
cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* destination, const void* source,
                                                     std::size_t bytes, cudaMemcpyKind kind) {
    return change_node(node, copy_1d(destination, source, bytes, kind));
}
cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* source,
                                                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
    return change_node(node, copy_symbol(symbol, offset, source, bytes, kind, true));
}
cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* destination,
                                                             const void* symbol, std::size_t bytes, std::size_t offset,
                                                             cudaMemcpyKind kind) {
    return change_node(node, copy_symbol(symbol, offset, destination, bytes, kind, false));
}
cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
    return change_node(node, fill(parameters));
}
cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
    return change_node(node, host(parameters));
}
cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t handle) {
    return change_node(node, event(handle, false));
}
cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t handle) {
    return change_node(node, event(handle, true));
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                       const cudaKernelNodeParams* parameters) {
    return change_step(graph, node, kernel(parameters));
}
cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                       const cudaMemcpy3DParms* parameters) {
    return change_step(graph, node, plain(parameters));
}
cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node, void* destination,
                                                         const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    return change_step(graph, node, copy_1d(destination, source, bytes, kind));
}
cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                               const void* symbol, const void* source,
                                                               std::size_t bytes, std::size_t offset,
                                                               cudaMemcpyKind kind) {
    return change_step(graph, node, copy_symbol(symbol, offset, source, bytes, kind, true));
}
cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                                 void* destination, const void* symbol,
                                                                 std::size_t bytes, std::size_t offset,
                                                                 cudaMemcpyKind kind) {
    return change_step(graph, node, copy_symbol(symbol, offset, destination, bytes, kind, false));
}
cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                       const cudaMemsetParams* parameters) {
    return change_step(graph, node, fill(parameters));
}
cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                     const cudaHostNodeParams* parameters) {
    return change_step(graph, node, host(parameters));
}
cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                           cudaEvent_t handle) {
    return change_step(graph, node, event(handle, false));
}
cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                         cudaEvent_t handle) {
    return change_step(graph, node, event(handle, true));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
    return read_node<KernelWork>(node, [&](const KernelWork& work) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        *parameters = {};
        parameters->func = const_cast<void*>(work.function);
        parameters->gridDim = work.grid, parameters->blockDim = work.block;
        parameters->sharedMemBytes = static_cast<unsigned>(work.shared_bytes);
        parameters->kernelParams = const_cast<void**>(work.pointers.data());
        return cudaSuccess;
    });
}
cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
    return read_node<cudaMemcpy3DParms>(node, [&](const cudaMemcpy3DParms& work) {
        return parameters == nullptr ? cudaErrorInvalidValue : (*parameters = work, cudaSuccess);
    });
}
cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
    return read_node<cudaMemsetParams>(node, [&](const cudaMemsetParams& work) {
        return parameters == nullptr ? cudaErrorInvalidValue : (*parameters = work, cudaSuccess);
    });
}
cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
    return read_node<HostWork>(node, [&](const HostWork& work) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        *parameters = {work.function, work.data};
        return cudaSuccess;
    });
}
cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* handle) {
    return read_node<EventWork>(node, [&](const EventWork& work) {
        return handle == nullptr || work.wait ? cudaErrorInvalidValue : (*handle = work.event, cudaSuccess);
    });
}
cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* handle) {
    return read_node<EventWork>(node, [&](const EventWork& work) {
        return handle == nullptr || !work.wait ? cudaErrorInvalidValue : (*handle = work.event, cudaSuccess);
    });
}
cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
    return read_node<cudaGraph_t>(node, [&](const cudaGraph_t& work) {
        return graph == nullptr ? cudaErrorInvalidValue : (*graph = work, cudaSuccess);
    });
}
cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
    return read_node<AllocationWork>(node, [&](const AllocationWork& work) {
        return parameters == nullptr ? cudaErrorInvalidValue : (*parameters = work.parameters, cudaSuccess);
    });
}
cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
    return read_node<FreeWork>(node, [&](const FreeWork& work) {
        return pointer == nullptr ? cudaErrorInvalidValue : (*static_cast<void**>(pointer) = work.pointer, cudaSuccess);
    });
}
