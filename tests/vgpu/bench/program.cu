// A whole CUDA program, to measure what a user waits for: prints "kernel" when its first kernel has ended. Given a
// number of MiB, it also fills two arrays of that size, with which the device server's memory can be compared.
#include <cstdio>
#include <cstdlib>

__global__ void increment(float* data, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) data[i] += 1;
}

int main(int argc, char** argv) {
    const size_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) << 18 : 256;
    for (int array = 0; array < 2; ++array) {
        float* data = nullptr;
        if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return 1;
        if (cudaMemset(data, 0, n * sizeof(float)) != cudaSuccess) return 2;
        increment<<<64, 256>>>(data, n);
        if (cudaDeviceSynchronize() != cudaSuccess) return 3;
        float last = 0;
        if (cudaMemcpy(&last, data + n - 1, sizeof last, cudaMemcpyDeviceToHost) != cudaSuccess || last != 1) return 4;
        if (array == 0) {
            puts("kernel");
            fflush(stdout);
        }
    }
    return 0;
}
