// Records the work in a graph that is never launched.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, k, n);
    Stream stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    device.launch(m, k, n, stream);
    cudaMemcpyAsync(C, device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
