// Graphs: work with dependencies, kept by the program's side. Launching one puts its nodes into the stream, one after
// the other in an order that keeps to the dependencies; branches do not overlap on the modelled clock.
#pragma once

#include <memory>
#include <vector>

#include "cudart/stream/work.hpp"

struct CUgraphNode_st {
    warpgrade::cudart::Work work;
    CUgraph_st* graph = nullptr;
    std::vector<CUgraphNode_st*> dependencies;  // of the same graph, each once
    const CUgraphNode_st* original = nullptr;   // what it was cloned from
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
    bool owned = false;                                  // by a node that it is the child graph of
};

// A graph made ready: its nodes in the order in which they run.
struct CUgraphExec_st {
    struct Step {
        const CUgraphNode_st* node = nullptr;  // which the program names it by; never followed, it may be gone
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
// A copy with nodes of its own; child graphs are copied too.
cudaGraph_t clone_graph(cudaGraph_t graph);
// Appends a node. Errors: a dependency of another graph, or named twice.
cudaError_t add_node(cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count, Work work,
                     cudaGraphNode_t* result);
// With the edges to and from it.
void destroy_node(cudaGraphNode_t node);
// Nodes in an order that keeps to the dependencies, the earliest added first; false if they go in a circle.
bool in_order(const CUgraph_st& graph, std::vector<const CUgraphNode_st*>& order);

cudaError_t instantiate(cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long flags);
cudaError_t destroy_executable(cudaGraphExec_t graph);
// The step of a node, or null.
CUgraphExec_st::Step* find_step(cudaGraphExec_t graph, cudaGraphNode_t node);

cudaGraphNodeType type_of(const Work& work);
cudaError_t make_kernel_work(const cudaKernelNodeParams& parameters, KernelWork& work);

void forget_graphs();

}  // namespace warpgrade::cudart
