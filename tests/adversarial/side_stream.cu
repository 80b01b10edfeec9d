// Leaves the work to a stream of its own and returns without waiting for it.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    static const Stream side = [] {
        Stream stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        return stream;
    }();
    const OnDevice device(A, B, m, k, n);
    cudaDeviceSynchronize();
    device.launch(m, k, n, side);
    cudaMemcpyAsync(C, device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost, side);
}
