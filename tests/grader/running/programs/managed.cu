// Managed memory as the profile counts it, and read too early by a program that looks after its own faults.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

__global__ void scale(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void give_up(int) { _exit(3); }

int main(int count, char** arguments) {
    const bool handles = count > 1 && std::strcmp(arguments[1], "handler") == 0;
    const bool fails = count > 1 && std::strcmp(arguments[1], "fail") == 0;
    constexpr int n = 1 << 18;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    if (handles) std::signal(SIGSEGV, give_up);
    for (int i = 0; i < n; ++i) x[i] = i;
    scale<<<n / 256, 256>>>(x, y, n);
    if (handles || fails) {
        std::printf("%g\n", y[3]);
        return fails ? 1 : 0;
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < n / 2; ++i) x[i] = y[i];
    scale<<<n / 256, 256>>>(x, y, n);
    cudaDeviceSynchronize();
    cudaMemPrefetchAsync(y, n * sizeof(float), cudaMemLocation{cudaMemLocationTypeHost, 0}, 0, nullptr);
    cudaDeviceSynchronize();
    std::printf("%g\n", y[3]);
    cudaFree(x), cudaFree(y);
    return 0;
}
