// What each version gains, what preparing the copies costs, and whether minima or additions make a difference.
#include "../../reference/step/step.cu"
#include "timing.cuh"

namespace {

enum class Change { none, added, rolled };

// Version 3 with 4 k at a time; with each minimum replaced by an addition, or with the loop over the k not unrolled.
template <Change CHANGE>
__global__ void changed_kernel(float* r, const float* padded, int n, int nn) {
    const float* const transposed = padded + nn * nn;
    const int i0 = blockIdx.y * PART, j0 = blockIdx.x * PART, thread = threadIdx.y * THREADS + threadIdx.x;
    constexpr int chunk = 4;
    __shared__ float xs[chunk][PART], ys[chunk][PART];
    float result[EACH][EACH] = {};
    const auto turn = [&](int f) {
        float y[EACH];
        for (int b = 0; b < EACH; ++b) y[b] = ys[f][b * THREADS + threadIdx.x];
        for (int a = 0; a < EACH; ++a) {
            const float x = xs[f][a * THREADS + threadIdx.y];
            for (int b = 0; b < EACH; ++b) {
                const float term = x + y[b];
                result[a][b] = CHANGE == Change::added ? result[a][b] + term : fminf(result[a][b], term);
            }
        }
    };
    for (int first = 0; first < n; first += chunk) {
        for (int f = 0; f < chunk; ++f) {
            xs[f][thread] = transposed[nn * (first + f) + i0 + thread];
            ys[f][thread] = padded[nn * (first + f) + j0 + thread];
        }
        __syncthreads();
        if constexpr (CHANGE == Change::rolled) {
#pragma unroll 1
            for (int f = 0; f < chunk; ++f) turn(f);
        } else {
#pragma unroll
            for (int f = 0; f < chunk; ++f) turn(f);
        }
        __syncthreads();
    }
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) {
            const int i = i0 + a * THREADS + threadIdx.y, j = j0 + b * THREADS + threadIdx.x;
            if (i < n && j < n) r[n * i + j] = result[a][b];
        }
    }
}

}  // namespace

int main() {
    const int n = 6300, nn = divide_up(n, PART) * PART;
    const double operations = 2e-12 * n * n * n;
    float *d = device_floats(static_cast<std::size_t>(n) * n), *r = device_floats(static_cast<std::size_t>(n) * n),
          *padded = device_floats(2ull * nn * nn);
    const dim3 block(BLOCK, BLOCK), grid(divide_up(n, BLOCK), divide_up(n, BLOCK));
    const dim3 few(THREADS, THREADS), parts(nn / PART, nn / PART);
    const auto show = [&](const char* what, double ms) { row(what, "n = 6300", ms, operations, "Tops/s"); };
    show("version 0", kernel_ms([&] { step_v0_kernel<<<grid, block>>>(r, d, n); }));
    show("version 1", kernel_ms([&] { step_v1_kernel<<<grid, block>>>(r, d, n); }));
    show("version 2", kernel_ms([&] { step_v2_kernel<<<parts, few>>>(r, padded, n, nn); }));
    show("version 3", kernel_ms([&] { step_v3_kernel<<<parts, few>>>(r, padded, n, nn); }));
    int* const any_negative = reinterpret_cast<int*>(device_floats(1));  // 0
    show("version 4", kernel_ms([&] { step_v4_kernel<false><<<parts, few>>>(r, padded, any_negative, n, nn); }));
    const int one = 1;
    CHECK(cudaMemcpy(any_negative, &one, sizeof one, cudaMemcpyHostToDevice));
    show("version 4, with negative lengths",
         kernel_ms([&] { step_v4_kernel<true><<<parts, few>>>(r, padded, any_negative, n, nn); }));
    show("4 k at a time, unrolled", kernel_ms([&] { changed_kernel<Change::none><<<parts, few>>>(r, padded, n, nn); }));
    show("the same, not unrolled",
         kernel_ms([&] { changed_kernel<Change::rolled><<<parts, few>>>(r, padded, n, nn); }));
    show("the same, additions for minima",
         kernel_ms([&] { changed_kernel<Change::added><<<parts, few>>>(r, padded, n, nn); }));
    row("padding and transposing", "n = 6300",
        kernel_ms([&] { pad_and_transpose_kernel<<<dim3(nn / PART, nn), PART>>>(padded, d, n, nn); }));
    row("the same in a tile", "n = 6300", kernel_ms([&] {
            const dim3 tiles(nn / TILE, nn / TILE), threads(TILE, THREADS);
            pad_and_transpose_in_tile_kernel<<<tiles, threads>>>(padded, any_negative, d, n, nn);
        }));

    std::vector<float> from(384 * 384, 1.0f), to(from);
    const auto whole = [&](const char* what, const char* size, auto function, int nodes) {
        row(what, size, call_ms([&] { function(to.data(), from.data(), nodes); }));
    };
    whole("step_v0", "n = 256, whole call", step_v0, 256);
    whole("step_v3", "n = 256, whole call", step_v3, 256);
    whole("step_v0", "n = 384, whole call", step_v0, 384);
    whole("step_v4", "n = 384, whole call", step_v4, 384);
}
