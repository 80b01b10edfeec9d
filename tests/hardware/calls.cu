// What calls take that ptxas does not inline: functions that call themselves keep registers on the stack.
#include "timing.cuh"

namespace {

constexpr int sms = 132;

// As many values wait for the call as `kept` says.
template <int kept>
__device__ float descend(int depth, float x) {
    if (depth == 0) return x;
    float values[kept];
#pragma unroll
    for (int i = 0; i < kept; ++i) values[i] = i == 0 ? x * 0.5f : values[i - 1] * x + 1;
    float sum = descend<kept>(depth - 1, x + 1);
#pragma unroll
    for (int i = 0; i < kept; ++i) sum = sum * values[i] + 1;
    return sum;
}

template <int kept>
__global__ void descents(int depth, int turns, float* out) {
    float sum = 0;
    for (int i = 0; i < turns; ++i) sum += descend<kept>(depth, sum + threadIdx.x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A tree, both of whose children are calls.
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void numbers(int n, int, float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(fibonacci(n));
}

// Lanes part: each has a tree of its own.
__global__ void numbers_apart(int n, int, float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(fibonacci(n + threadIdx.x % 4));
}

__noinline__ __device__ float one_step(float x) { return x * 1.5f + 1; }

__global__ void steps(int depth, int turns, float* out) {
    float x = threadIdx.x;
    for (int i = 0; i < turns * depth; ++i) x = one_step(x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

template <class Kernel>
void show(const char* how, Kernel kernel, int depth, int turns, float* out) {
    for (const int warps : {1, 8, 32, 64}) {
        char what[100];
        std::snprintf(what, sizeof what, "%s, depth %d, %d warps", how, depth, warps);
        const int threads = std::min(warps, 8) * 32, blocks = sms * std::max(warps / 8, 1);
        row(what, "", kernel_ms([&] { kernel<<<blocks, threads>>>(depth, turns, out); }));
    }
}

}  // namespace

int main() {
    float* out;
    CHECK(cudaMalloc(&out, sms * 2048 * sizeof *out));
    show("step", steps, 8, 32, out);
    show("descent, 1 kept", descents<1>, 8, 32, out);
    show("descent, 4 kept", descents<4>, 8, 32, out);
    show("descent, 12 kept", descents<12>, 8, 32, out);
    show("fibonacci", numbers, 10, 1, out);
    show("fibonacci, lanes apart", numbers_apart, 8, 1, out);
    CHECK(cudaFree(out));
}
