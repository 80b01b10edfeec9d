// A graph whose two nodes fill: one repeats a byte, the bytes of the other's elements differ.
#include <cstdio>

int main() {
    int *p = nullptr, host[64];
    cudaMalloc(&p, sizeof host);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    for (int half = 0; half < 2; ++half) {
        cudaGraphNode_t node;
        cudaMemsetParams fill{};
        fill.dst = p + 32 * half, fill.value = half == 0 ? 0x05050505 : 7;
        fill.elementSize = sizeof(int), fill.width = 32, fill.height = 1;
        cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill);
    }
    cudaGraphExec_t program;
    cudaGraphInstantiate(&program, graph, 0);
    cudaGraphLaunch(program, nullptr);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%x %x %x %x\n", host[0], host[31], host[32], host[63]);
}
