// Graphs: work with dependencies. The program's process keeps them. A launch puts the nodes into the stream one after
// the other, in an order that respects the dependencies; branches do not overlap on the modelled clock.
#pragma once

#include <memory>
#include <vector>

#include "cudart/stream/work.hpp"

struct CUgraphNode_st {
    warpgrade::cudart::Work work;
    CUgraph_st* graph = nullptr;
    std::vector<CUgraphNode_st*> dependencies;  // of the same graph, each once
    const CUgraphNode_st* original = nullptr;   // of a clone
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order of creation
    bool owned = false;                                  // by a child graph node
};

// An executable graph: its nodes in the order in which they run.
struct CUgraphExec_st {
    struct Step {
        const CUgraphNode_st* node = nullptr;  // identifies the step; never dereferenced, since it may be destroyed
        warpgrade::cudart::Work work;
        std::vector<const CUgraphNode_st*> dependencies;
        bool enabled = true;
    };
    std::vector<Step> steps;
    unsigned long long flags = 0;
};

namespace warpgrade::cudart {

bool is_graph(cudaGraph_t graph);
bool is_node(cudaGraphNode_t node);
bool is_executable(cudaGraphExec_t graph);

cudaGraph_t make_graph();
void destroy_graph(cudaGraph_t graph);
// Copies child graphs too.
cudaGraph_t clone_graph(cudaGraph_t graph);
// It is an error if a dependency is in another graph or listed twice.
cudaError_t add_node(cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count, Work work,
                     cudaGraphNode_t* result);
// Removes its edges too.
void destroy_node(cudaGraphNode_t node);
// Sorts the nodes topologically, the earliest added first; returns false if there is a cycle.
bool sort_nodes(const CUgraph_st& graph, std::vector<const CUgraphNode_st*>& order);

cudaError_t instantiate(cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long flags);
cudaError_t destroy_executable(cudaGraphExec_t graph);
// A graph that allocates or frees memory can be neither cloned nor part of another one, and its nodes of memory stay.
bool has_memory_nodes(const CUgraph_st& graph);
// Work that frees this memory, which an allocating node has; it is an error if the graph frees it already.
cudaError_t make_free_work(const CUgraph_st& graph, void* pointer, Work& work);
// Null if there is none.
CUgraphExec_st::Step* find_step(cudaGraphExec_t graph, cudaGraphNode_t node);

cudaGraphNodeType type_of(const Work& work);
cudaError_t make_kernel_work(const cudaKernelNodeParams& parameters, KernelWork& work);

void forget_graphs();

}  // namespace warpgrade::cudart
