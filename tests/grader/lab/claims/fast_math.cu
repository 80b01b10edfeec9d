// The exponential function and its fast variant, for 4,096 values from -20 to 20: lab convolution.
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.cuh"

constexpr int N = 4096;

__global__ void exact(const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = expf(x[i]);
}

__global__ void fast(const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __expf(x[i]);
}

// Launches a kernel and prints the largest relative error of its results.
static void measure(void (*kernel)(const float*, float*), const float* d_x, float* d_y, const std::vector<float>& x) {
    std::vector<float> y(N);
    kernel<<<N / 256, 256>>>(d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, N * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < N; ++i) worst = std::fmax(worst, std::fabs(y[i] / std::exp(double(x[i])) - 1));
    std::printf("%.1e\n", worst);
}

int main() {
    std::vector<float> x(N);
    for (int i = 0; i < N; ++i) x[i] = -20.0f + 40.0f * i / (N - 1);
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, N * sizeof(float)));
    CHECK(cudaMalloc(&d_y, N * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    measure(exact, d_x, d_y, x);
    measure(fast, d_x, d_y, x);
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
