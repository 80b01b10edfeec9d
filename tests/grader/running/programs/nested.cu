// Kernels that launch kernels: rightly, or with the mistake that the argument names.
#include <cstdio>
#include <cstring>

struct Scale {
    char narrow;
    double by;
};

__global__ void scale(double* x, int count, Scale scale) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] = x[i] * scale.by + scale.narrow;
}

__global__ void reverse(double* x, int count) {
    extern __shared__ double shared[];
    shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = shared[count - 1 - threadIdx.x];
}

__global__ void middle(double* x, int count) { reverse<<<1, count, count * sizeof(double)>>>(x, count); }

// Each thread has its quarter scaled, one thread what comes after.
__global__ void parent(double* x, int count, int* error) {
    const int part = count / 4;
    scale<<<(part + 31) / 32, 32>>>(x + threadIdx.x * part, part, {static_cast<char>(threadIdx.x), 2.0});
    if (threadIdx.x == 0) {
        middle<<<1, 1, 0, cudaStreamTailLaunch>>>(x, count);
        *error = cudaGetLastError();
    }
}

__global__ void too_many(double* x) { scale<<<1, 2000>>>(x, 1, {0, 1}); }

__global__ void endless(double* x) {
    endless<<<1, 1>>>(x);
    *x += 1;
}

__global__ void beyond(double* x, int count) { scale<<<1, 32>>>(x + count, 8, {0, 1}); }

__global__ void makes_stream(double* x) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    scale<<<1, 1, 0, stream>>>(x, 1, {0, 1});
}

int main(int argc, char** argv) {
    constexpr int count = 200;
    const char* mistake = argc > 1 ? argv[1] : "";
    double *x = nullptr, host[count];
    int* error = nullptr;
    for (int i = 0; i < count; ++i) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMallocManaged(&error, sizeof(int));
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    if (std::strcmp(mistake, "too many") == 0) too_many<<<1, 1>>>(x);
    if (std::strcmp(mistake, "endless") == 0) endless<<<1, 1>>>(x);
    if (std::strcmp(mistake, "beyond") == 0) beyond<<<1, 1>>>(x, count);
    if (std::strcmp(mistake, "stream") == 0) makes_stream<<<1, 1>>>(x);
    if (*mistake == 0) parent<<<1, 4>>>(x, count, error);
    std::printf("launched: %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("done: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    if (cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += host[i] != 2 * (count - 1 - i) + (count - 1 - i) / (count / 4);
    if (*mistake == 0) std::printf("error %d, %d wrong\n", *error, wrong);
    if (std::strcmp(mistake, "endless") == 0) std::printf("%g deep\n", host[0]);
    cudaFree(x);
    cudaFree(error);
}
