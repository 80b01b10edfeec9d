// The kernels of tests/vgpu/bench/kernels.cu as a CUDA program, for `warpgrade run` and for a GPU:
//   warpgrade run tests/benchmarks/peers/cuda.cu -X -std=c++17 -I tests
#include "peer.hpp"
#include "vgpu/bench/kernels.cu"

static void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Buffers live as long as the program: a few for each algorithm, of the largest size that was asked for.
static float* buffer(int which, size_t count) {
    static float* data[3];
    static size_t held[3];
    if (held[which] < count) {
        check(cudaFree(data[which]));
        check(cudaMalloc(&data[which], count * sizeof(float)));
        held[which] = count;
    }
    return data[which];
}

static float* upload(int which, const peer::Floats& from) {
    float* to = buffer(which, from.size());
    check(cudaMemcpy(to, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice));
    return to;
}

static peer::Floats download(const float* from, size_t count) {
    peer::Floats to(count);
    check(cudaMemcpy(to.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost));
    return to;
}

static peer::Work multiply(const peer::Inputs& inputs) {
    const float *a = upload(0, inputs.a), *b = upload(1, inputs.b);
    const size_t count = inputs.a.size();
    float* c = buffer(2, count);
    const int n = inputs.n;
    const auto kernel = inputs.algorithm == "matmul_naive" ? matmul_naive : matmul_tiled;
    const auto run = [=] {
        kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
        check(cudaDeviceSynchronize());
    };
    return {run, [=] { return download(c, count); }};
}

static peer::Work reduce(const peer::Inputs& inputs) {
    const float* in = upload(0, inputs.a);
    const int n = inputs.n;
    float* partial[2] = {buffer(1, n / 256 + 1), buffer(2, n / 256 + 1)};
    float *one = partial[0], *other = partial[1];
    int passes = 0;
    for (int left = n; left > 1; left = (left + 255) / 256) ++passes;
    const auto run = [=] {
        const float* from = in;
        int left = n;
        for (int pass = 0; pass < passes; ++pass) {
            float* to = pass % 2 ? other : one;
            const int blocks = (left + 255) / 256;
            reduce_tree<<<blocks, 256>>>(from, to, left);
            from = to;
            left = blocks;
        }
        check(cudaDeviceSynchronize());
    };
    return {run, [=] { return download(passes % 2 ? one : other, 1); }};
}

int main() {
    return peer::serve([](const peer::Inputs& inputs) {
        return inputs.algorithm == "reduce_tree" ? reduce(inputs) : multiply(inputs);
    });
}
