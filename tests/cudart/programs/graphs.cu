// Graphs: captured from streams, or built node by node; instantiated, launched several times, updated. Linked with
// NVIDIA's own runtime, every check is meant to hold on a real GPU too.
#include <cstdint>
#include <cstring>

#include "checks.cuh"

__device__ int variable = 0;

__global__ void add(int* x, int by) { x[threadIdx.x] += by; }

__global__ void sum(const int* a, const int* b, int* result) { *result = *a + *b; }

__global__ void read_variable(int* out) { *out = variable; }

void check_capture() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int *x = nullptr, host[32] = {}, back[32] = {};
    OK(cudaMalloc(&x, sizeof host));
    int calls = 0;
    cudaStreamCaptureStatus status;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    OK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 5; ++i) add<<<1, 32, 0, stream>>>(x, i);
    OK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(stream, [](void* count) { ++*static_cast<int*>(count); }, &calls));
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(stream, &graph));
    EXPECT(back[0] == 0 && calls == 0);  // nothing has run
    std::size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 8);
    OK(cudaGraphGetRootNodes(graph, nullptr, &count));
    EXPECT(count == 1);
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 1; round <= 3; ++round) {
        for (int& value : host) value = 100 * round;  // read when the graph runs
        OK(cudaGraphLaunch(executable, stream));
        OK(cudaStreamSynchronize(stream));
        EXPECT(back[0] == 100 * round + 10 && back[31] == 100 * round + 10 && calls == round);
    }
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    OK(cudaStreamDestroy(stream));
}

// Two streams that part and meet again.
void check_fork() {
    cudaStream_t first, second;
    cudaEvent_t forked, joined;
    OK(cudaStreamCreate(&first)); OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    int *a = upload(std::vector<int>{1}), *b = upload(std::vector<int>{2}), *result = upload(std::vector<int>{0});
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(result, 0, sizeof(int), first));
    OK(cudaEventRecord(forked, first));
    OK(cudaStreamWaitEvent(second, forked, 0));
    add<<<1, 1, 0, first>>>(a, 10);
    add<<<1, 1, 0, second>>>(b, 20);
    OK(cudaEventRecord(joined, second));
    OK(cudaStreamWaitEvent(first, joined, 0));
    sum<<<1, 1, 0, first>>>(a, b, result);
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(first, &graph));
    std::size_t nodes = 0, edges = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(nodes == 4 && edges == 4);
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, first));
    OK(cudaGraphLaunch(executable, first));
    OK(cudaStreamSynchronize(first));
    EXPECT(download(result, 1)[0] == 21 + 42);

    // A branch that does not come back.
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(forked, first));
    OK(cudaStreamWaitEvent(second, forked, 0));
    add<<<1, 1, 0, second>>>(b, 1);
    EXPECT_ERROR(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(first, &graph));
    cudaGetLastError();
    // Waiting is no work.
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(first));
    EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
    EXPECT(graph == nullptr);
    cudaGetLastError();
    EXPECT(download(b, 1)[0] == 42);
}

void check_nodes() {
    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    int *x = upload(std::vector<int>(32, -1)), host = 5, result = 0, by = 3;
    cudaGraphNode_t fill, kernel, set, read, back, called;

    cudaMemsetParams fill_parameters{};
    fill_parameters.dst = x, fill_parameters.value = 7, fill_parameters.elementSize = 4;
    fill_parameters.width = 32, fill_parameters.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_parameters));

    void* arguments[] = {&x, &by};
    cudaKernelNodeParams parameters{};
    parameters.func = reinterpret_cast<void*>(add);
    parameters.gridDim = 1, parameters.blockDim = 32;
    parameters.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &parameters));
    by = 1000;  // was taken when the node was made

    OK(cudaGraphAddMemcpyNodeToSymbol(&set, graph, nullptr, 0, variable, &host, 4, 0, cudaMemcpyHostToDevice));
    int* out = upload(std::vector<int>{0});
    void* read_arguments[] = {&out};
    parameters.func = reinterpret_cast<void*>(read_variable);
    parameters.blockDim = 1, parameters.kernelParams = read_arguments;
    OK(cudaGraphAddKernelNode(&read, graph, &set, 1, &parameters));
    const cudaGraphNode_t both[] = {kernel, read};
    OK(cudaGraphAddMemcpyNode1D(&back, graph, both, 2, &result, x + 31, 4, cudaMemcpyDeviceToHost));
    int calls = 0;
    cudaHostNodeParams host_parameters{[](void* count) { ++*static_cast<int*>(count); }, &calls};
    OK(cudaGraphAddHostNode(&called, graph, &back, 1, &host_parameters));

    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(set, &type));
    EXPECT(type == cudaGraphNodeTypeMemcpy);
    cudaGraphNode_t list[3];
    std::size_t count = 3;
    OK(cudaGraphNodeGetDependencies(back, list, nullptr, &count));
    EXPECT(count == 2 && list[0] == kernel && list[1] == read && list[2] == nullptr);
    count = 3;
    OK(cudaGraphNodeGetDependentNodes(fill, list, nullptr, &count));
    EXPECT(count == 1 && list[0] == kernel);
    cudaKernelNodeParams asked{};
    OK(cudaGraphKernelNodeGetParams(kernel, &asked));
    EXPECT(asked.func == reinterpret_cast<void*>(add) && asked.blockDim.x == 32);
    EXPECT(*static_cast<int*>(asked.kernelParams[1]) == 3);

    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(result == 10 && calls == 1 && download(out, 1)[0] == 5);

    // Other arguments, for this executable only.
    int more = 100;
    void* changed[] = {&x, &more};
    parameters.func = reinterpret_cast<void*>(add);
    parameters.blockDim = 32, parameters.kernelParams = changed;
    OK(cudaGraphExecKernelNodeSetParams(executable, kernel, &parameters));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(result == 107 && calls == 2);
    OK(cudaGraphNodeSetEnabled(executable, kernel, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(result == 7);

    // A clone, as a child of another graph.
    cudaGraph_t clone, outer;
    cudaGraphNode_t twin, inner;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&twin, kernel, clone));
    EXPECT(twin != kernel);
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddChildGraphNode(&inner, outer, nullptr, 0, clone));
    cudaGraphExec_t nested;
    OK(cudaGraphInstantiate(&nested, outer, 0));
    OK(cudaGraphLaunch(nested, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(result == 10 && calls == 4);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&inner, outer, &kernel, 1));  // of another graph
    cudaGetLastError();
    OK(cudaGraphDestroy(clone)); OK(cudaGraphDestroy(outer)); OK(cudaGraphDestroy(graph));
    OK(cudaGraphExecDestroy(executable)); OK(cudaGraphExecDestroy(nested));
}

void check_update() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int* x = upload(std::vector<int>{0});
    const auto record = [&](int by, int times) {
        cudaGraph_t graph;
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < times; ++i) add<<<1, 1, 0, stream>>>(x, by);
        OK(cudaStreamEndCapture(stream, &graph));
        return graph;
    };
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, record(1, 2), 0));
    OK(cudaGraphLaunch(executable, stream));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(executable, record(10, 2), &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(download(x, 1)[0] == 22);
    EXPECT_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(executable, record(1, 3), &info));
    EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGetLastError();
}

// What a captured stream allocates and frees is there while the graph runs.
void check_captured_memory() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    int *scratch = nullptr, *out = upload(std::vector<int>(32, 0)), by = 5;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&scratch, 32 * sizeof(int), stream));
    OK(cudaMemsetAsync(scratch, 0, 32 * sizeof(int), stream));
    add<<<1, 32, 0, stream>>>(scratch, by);
    OK(cudaMemcpyAsync(out, scratch, 32 * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    OK(cudaFreeAsync(scratch, stream));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeAsync(scratch, stream));
    cudaGetLastError();
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) {
        OK(cudaMemsetAsync(out, 0, 32 * sizeof(int), stream));
        OK(cudaGraphLaunch(executable, stream));
        OK(cudaStreamSynchronize(stream));
        EXPECT(download(out, 32) == std::vector<int>(32, 5));
    }
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(out));
}

cudaMemAllocNodeParams memory_of(std::size_t bytes) {
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
    parameters.bytesize = bytes;
    return parameters;
}

void check_memory_nodes() {
    cudaGraph_t graph, other;
    cudaGraphNode_t memory, fill, gone, same;
    cudaGraphExec_t executable;
    cudaGraphNodeType type;
    OK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams wanted = memory_of(1024), is{};
    OK(cudaGraphAddMemAllocNode(&memory, graph, nullptr, 0, &wanted));
    EXPECT(wanted.dptr != nullptr);
    OK(cudaGraphMemAllocNodeGetParams(memory, &is));
    EXPECT(is.dptr == wanted.dptr && is.bytesize == 1024);
    OK(cudaGraphNodeGetType(memory, &type));
    EXPECT(type == cudaGraphNodeTypeMemAlloc);
    cudaMemsetParams sevens{};
    sevens.dst = wanted.dptr, sevens.value = 7, sevens.elementSize = 4, sevens.width = 256, sevens.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, &memory, 1, &sevens));
    EXPECT_ERROR(cudaErrorNotSupported, cudaGraphClone(&other, graph));
    EXPECT_ERROR(cudaErrorNotSupported, cudaGraphDestroyNode(memory));

    // Without a node that frees it, the memory stays until the program does.
    std::uint64_t used = 1, high = 0, none = 0;
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT(used == 0);
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, nullptr));
    EXPECT(download(static_cast<int*>(wanted.dptr), 256)[255] == 7);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT(used >= 1024);
    OK(cudaFree(wanted.dptr));
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaFreeAsync(wanted.dptr, nullptr));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(executable));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT(used >= 1024);  // the device keeps it for graphs
    OK(cudaDeviceGraphMemTrim(0));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
    EXPECT(used == 0 && high >= 1024);
    OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
    EXPECT(high == 0);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
    EXPECT(used == 0);

    // Or until the next launch.
    OK(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(executable, nullptr));
    EXPECT(download(static_cast<int*>(wanted.dptr), 256)[0] == 7);
    OK(cudaFree(wanted.dptr));
    OK(cudaGraphExecDestroy(executable));

    // Another graph may free it.
    int* foreign = upload(std::vector<int>(1, 0));
    void* pointer = nullptr;
    OK(cudaGraphCreate(&other, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&same, other, nullptr, 0, foreign));
    OK(cudaGraphAddMemFreeNode(&gone, other, nullptr, 0, wanted.dptr));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&same, other, nullptr, 0, wanted.dptr));
    OK(cudaGraphMemFreeNodeGetParams(gone, &pointer));
    EXPECT(pointer == wanted.dptr);
    cudaGraphExec_t frees;
    OK(cudaGraphInstantiate(&frees, other, 0));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; ++i) {
        OK(cudaGraphLaunch(executable, nullptr));
        OK(cudaGraphLaunch(frees, nullptr));
    }
    OK(cudaDeviceSynchronize());
    OK(cudaFree(foreign));
    cudaGetLastError();
}

// A mistake: the graph reads memory that it has freed, and in its second launch memory that nothing has written.
void use_graph_memory(bool after_free) {
    cudaGraph_t graph;
    cudaGraphNode_t memory, gone, late;
    cudaGraphExec_t executable;
    int* out = upload(std::vector<int>(1, 0));
    OK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams wanted = memory_of(32 * sizeof(int));
    OK(cudaGraphAddMemAllocNode(&memory, graph, nullptr, 0, &wanted));
    int by = 1;
    void* arguments[] = {&wanted.dptr, &by};
    cudaKernelNodeParams parameters{};
    parameters.func = reinterpret_cast<void*>(add);
    parameters.gridDim = 1, parameters.blockDim = 32;
    parameters.kernelParams = arguments;
    if (after_free) {
        OK(cudaGraphAddMemFreeNode(&gone, graph, &memory, 1, wanted.dptr));
        OK(cudaGraphAddKernelNode(&late, graph, &gone, 1, &parameters));
    } else {
        OK(cudaGraphAddKernelNode(&late, graph, &memory, 1, &parameters));
        OK(cudaGraphAddMemFreeNode(&gone, graph, &late, 1, wanted.dptr));
    }
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, nullptr));
    if (!after_free) OK(cudaGraphLaunch(executable, nullptr));
    cudaDeviceSynchronize();
    cudaFree(out);
}

void graph_memory_used_late() { use_graph_memory(true); }
void graph_memory_not_written() { use_graph_memory(false); }

int main(int argc, char** argv) {
    return run_check(argc, argv,
                     {{"capture", check_capture},
                      {"fork", check_fork},
                      {"nodes", check_nodes},
                      {"update", check_update},
                      {"captured memory", check_captured_memory},
                      {"memory nodes", check_memory_nodes},
                      {"memory used late", graph_memory_used_late},
                      {"memory not written", graph_memory_not_written}});
}
