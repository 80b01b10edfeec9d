// Two graphs in two streams, that work on the same array.
__global__ void increase(int* x) { ++x[threadIdx.x]; }

int main() {
    int* x;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    increase<<<1, 256, 0, first>>>(x);
    increase<<<1, 256, 0, first>>>(x);
    cudaStreamEndCapture(first, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    cudaGraphLaunch(executable, second);  // expect: racecheck/stream (other: -1)
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    return 0;
}
