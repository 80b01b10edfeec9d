// Threads of OpenMP that launch kernels, each in a stream of its own. Compile with -Xcompiler -fopenmp.
#include <omp.h>

#include <cstdio>

__global__ void add(int* x, int count, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] += value;
}

int main() {
    constexpr int parts = 4, part = 1000;
    int threads = 0, wrong = 0;
    int* x = nullptr;
    cudaMallocManaged(&x, parts * part * sizeof(int));
    cudaMemset(x, 0, parts * part * sizeof(int));
    cudaDeviceSynchronize();
#pragma omp parallel num_threads(parts) reduction(+ : threads)
    {
        const int me = omp_get_thread_num();
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        add<<<(part + 255) / 256, 256, 0, stream>>>(x + me * part, part, me + 1);
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
        ++threads;
    }
    cudaDeviceSynchronize();
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < parts * part; ++i) wrong += x[i] != i / part + 1;
    cudaFree(x);
    std::printf("%d threads, %d wrong\n", threads, wrong);
    return wrong;
}
