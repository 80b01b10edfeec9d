// A graph captured from two streams that part and meet again by events, launched twice in one stream.
__global__ void increase(int* x) { ++x[threadIdx.x]; }

int main() {
    int *x, *y, last = 0;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    cudaMemset(y, 0, 256 * sizeof(int));
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEvent_t forked, joined;
    cudaEventCreate(&forked);
    cudaEventCreate(&joined);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(forked, first);
    cudaStreamWaitEvent(second, forked, 0);
    increase<<<1, 256, 0, first>>>(x);
    increase<<<1, 256, 0, second>>>(y);
    cudaEventRecord(joined, second);
    cudaStreamWaitEvent(first, joined, 0);
    cudaStreamEndCapture(first, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    cudaGraphLaunch(executable, first);
    cudaStreamSynchronize(first);
    cudaMemcpy(&last, x + 255, sizeof last, cudaMemcpyDeviceToHost);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaEventDestroy(forked);
    cudaEventDestroy(joined);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(y);
    return last == 2 ? 0 : 1;
}
