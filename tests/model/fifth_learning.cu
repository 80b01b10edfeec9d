// Fifth held-out set: families of machine learning.
#include <cuda_fp16.h>

#include "families.cuh"

namespace {

// --- the eight largest of each of 1024 rows of 4096, from the largest on

constexpr int rows = 1024, columns = 4096, best = 8;

// `most` is in order; the least goes if `value` is above it.
__device__ inline void insert(float (&most)[best], float value) {
    if (value <= most[best - 1]) return;
#pragma unroll
    for (int k = 0; k < best; ++k) {
        const float low = fminf(most[k], value);
        most[k] = fmaxf(most[k], value);
        value = low;
    }
}

__global__ void top_thread(const float* in, float* out) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float most[best] = {};
    for (int i = 0; i < columns; ++i) insert(most, in[row * columns + i]);
    for (int k = 0; k < best; ++k) out[row * best + k] = most[k];
}

// The largest of all lanes' first ones, eight times; one lane that has it goes on to its next.
__global__ void top_warp(const float* in, float* out) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float most[best] = {};
    for (int i = lane; i < columns; i += 32) insert(most, in[row * columns + i]);
    for (int k = 0; k < best; ++k) {
        const float value = warp_max(most[0]);
        if (lane == __ffs(__ballot_sync(~0u, most[0] == value)) - 1) {
#pragma unroll
            for (int j = 0; j < best; ++j) most[j] = j + 1 < best ? most[j + 1] : 0;
        }
        if (lane == k) out[row * best + k] = value;
    }
}

// A block a row: the bits of the eighth largest from the highest on, eight at a time, then those that are not less.
__global__ void top_digits(const float* in, float* out) {
    __shared__ int counts[256], found, left;
    __shared__ unsigned known;
    __shared__ float chosen[best];
    const unsigned* row = reinterpret_cast<const unsigned*>(in) + blockIdx.x * columns;
    const int t = threadIdx.x;
    unsigned own[columns / 256];
    for (int k = 0; k < columns / 256; ++k) own[k] = row[k * 256 + t];
    if (t == 0) known = 0, left = best, found = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        counts[t] = 0;
        __syncthreads();
        for (int k = 0; k < columns / 256; ++k)
            if (shift == 24 || own[k] >> (shift + 8) == known) atomicAdd(counts + (own[k] >> shift & 255), 1);
        __syncthreads();
        if (t < 32) {  // lane 0 has the eight highest counts
            const int high = 255 - t * 8;
            int sum = 0;
            for (int k = 0; k < 8; ++k) sum += counts[high - k];
            int before = sum;
            for (int d = 1; d < 32; d *= 2) {
                const int other = __shfl_up_sync(~0u, before, d);
                if (t >= d) before += other;
            }
            before -= sum;
            const int wanted = left;
            __syncwarp();
            for (int k = 0; k < 8; before += counts[high - k], ++k)
                if (before < wanted && before + counts[high - k] >= wanted) {
                    left = wanted - before;
                    known = known << 8 | (high - k);
                }
        }
        __syncthreads();
    }
    for (int k = 0; k < columns / 256; ++k)
        if (own[k] > known) chosen[atomicAdd(&found, 1)] = __uint_as_float(own[k]);
    __syncthreads();
    if (t >= best) return;
    const int above = best - left;
    int rank = 0;
    for (int k = 0; k < above; ++k) rank += t < above && (chosen[k] > chosen[t] || (chosen[k] == chosen[t] && k < t));
    out[blockIdx.x * best + (t < above ? rank : t)] = t < above ? chosen[t] : __uint_as_float(known);
}

void top() {
    const auto in = filled<float>(rows * columns, random_float);
    float *din = to_device(in), *out = empty_array<float>(rows * best);
    const auto check = [&](std::size_t i) {
        std::vector<float> row(in.begin() + i / best * columns, in.begin() + (i / best + 1) * columns);
        std::sort(row.rbegin(), row.rend());
        return row[i % best];
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "8 of 4096", out, rows * best, check, launch);
    };
    show("top: thread", [&] { top_thread<<<rows / 32, 32>>>(din, out); });
    show("top: warp", [&] { top_warp<<<rows / 8, 256>>>(din, out); });
    show("top: digits", [&] { top_digits<<<rows, 256>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

// --- a recurrent layer (GRU) of 32 units: 512 sequences of 96 steps

constexpr int sequences = 512, steps = 96, units = 32;

__host__ __device__ inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// weights: of the gates z and r and of the new state, [gate][from][unit]. x: what comes in,
// [sequence][step][gate][unit].
__global__ void gru_global(const float* weights, const float* x, float* out) {
    __shared__ float state[4][units], reset[4][units];
    const int unit = threadIdx.x, own = threadIdx.y;
    const float* in = x + (blockIdx.x * 4 + own) * steps * 3 * units + unit;
    float h = 0;
    for (int step = 0; step < steps; ++step, in += 3 * units) {
        state[own][unit] = h;
        __syncthreads();
        float z = in[0], r = in[units], next = in[2 * units];
        for (int k = 0; k < units; ++k) {
            z += weights[k * units + unit] * state[own][k];
            r += weights[(units + k) * units + unit] * state[own][k];
        }
        reset[own][unit] = sigmoid(r) * h;
        __syncthreads();
        for (int k = 0; k < units; ++k) next += weights[(2 * units + k) * units + unit] * reset[own][k];
        z = sigmoid(z);
        h = (1 - z) * h + z * tanhf(next);
    }
    out[(blockIdx.x * 4 + own) * units + unit] = h;
}

__global__ void gru_shared(const float* weights, const float* x, float* out) {
    __shared__ float all[3 * units * units], state[8][units];
    const int unit = threadIdx.x, own = threadIdx.y;
    for (int i = own * units + unit; i < 3 * units * units; i += 256) all[i] = weights[i];
    __syncthreads();
    const float* in = x + (blockIdx.x * 8 + own) * steps * 3 * units + unit;
    float h = 0;
    for (int step = 0; step < steps; ++step, in += 3 * units) {
        state[own][unit] = h;
        __syncwarp();
        float z = in[0], r = in[units], next = in[2 * units];
        for (int k = 0; k < units; ++k) {
            z += all[k * units + unit] * state[own][k];
            r += all[(units + k) * units + unit] * state[own][k];
        }
        __syncwarp();
        state[own][unit] = sigmoid(r) * h;
        __syncwarp();
        for (int k = 0; k < units; ++k) next += all[(2 * units + k) * units + unit] * state[own][k];
        z = sigmoid(z);
        h = (1 - z) * h + z * tanhf(next);
        __syncwarp();
    }
    out[(blockIdx.x * 8 + own) * units + unit] = h;
}

// A warp a sequence, a lane a unit, whose weights stay in registers.
__global__ void gru_registers(const float* weights, const float* x, float* out) {
    const int unit = threadIdx.x % 32, sequence = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float* in = x + sequence * steps * 3 * units + unit;
    float own[3 * units], h = 0;
#pragma unroll
    for (int k = 0; k < 3 * units; ++k) own[k] = weights[k * units + unit];
    for (int step = 0; step < steps; ++step, in += 3 * units) {
        float z = in[0], r = in[units], next = in[2 * units];
#pragma unroll
        for (int k = 0; k < units; ++k) {
            const float other = __shfl_sync(~0u, h, k);
            z += own[k] * other, r += own[units + k] * other;
        }
        r = sigmoid(r) * h, z = sigmoid(z);
#pragma unroll
        for (int k = 0; k < units; ++k) next += own[2 * units + k] * __shfl_sync(~0u, r, k);
        h = (1 - z) * h + z * tanhf(next);
    }
    out[sequence * units + unit] = h;
}

void gru() {
    const auto weights = filled<float>(3 * units * units, [](unsigned i) { return 0.5f * random_float(i) - 0.25f; });
    const auto x = filled<float>(sequences * steps * 3 * units, [](unsigned i) { return 2 * random_float(~i) - 1; });
    float *dw = to_device(weights), *dx = to_device(x), *out = empty_array<float>(sequences * units);
    const auto check = [&](std::size_t i) {
        std::vector<double> h(units), gates(3 * units);
        for (int step = 0; step < steps; ++step) {
            for (int g = 0; g < 3 * units; ++g) {
                double sum = x[(i / units * steps + step) * 3 * units + g];
                for (int k = 0; k < units; ++k)
                    sum += weights[(g / units * units + k) * units + g % units] * h[k] *
                           (g < 2 * units ? 1 : gates[units + k]);
                gates[g] = g < 2 * units ? 1 / (1 + std::exp(-sum)) : std::tanh(sum);
            }
            for (int k = 0; k < units; ++k) h[k] = (1 - gates[k]) * h[k] + gates[k] * gates[2 * units + k];
        }
        return h[i % units];
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "512 x 96", out, sequences * units, check, launch);
    };
    show("gru: global", [&] { gru_global<<<sequences / 4, dim3(units, 4)>>>(dw, dx, out); });
    show("gru: shared", [&] { gru_shared<<<sequences / 8, dim3(units, 8)>>>(dw, dx, out); });
    show("gru: registers", [&] { gru_registers<<<sequences / 4, 128>>>(dw, dx, out); });
    for (float* each : {dw, dx, out}) CHECK(cudaFree(each));
}

// --- a convolution layer: 3 x 3 of 32 channels to 32 channels, eight images of 32^2, zero outside

constexpr int channels = 32, edge = 32, plane = edge * edge, images = 8;
__constant__ float filters[channels * channels * 9];  // [to][from][y][x]

__global__ void layer_global(const float* in, const float* weights, float* out) {
    const int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y, to = blockIdx.y, image = blockIdx.z;
    float sum = 0;
    for (int from = 0; from < channels; ++from)
        for (int k = 0; k < 9; ++k) {
            const int u = x + k % 3 - 1, v = y + k / 3 - 1;
            if (u >= 0 && u < edge && v >= 0 && v < edge)
                sum += weights[(to * channels + from) * 9 + k] * in[(image * channels + from) * plane + v * edge + u];
        }
    out[(image * channels + to) * plane + y * edge + x] = sum;
}

// One channel's pixels of eight rows at a time in shared memory.
__global__ void layer_shared(const float* in, float* out) {
    __shared__ float tile[10][34];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.x * 8, to = blockIdx.y, image = blockIdx.z;
    float sum = 0;
    for (int from = 0; from < channels; ++from) {
        for (int i = y * 32 + x; i < 340; i += 256) {
            const int u = i % 34 - 1, v = top + i / 34 - 1;
            const bool inside = u >= 0 && u < edge && v >= 0 && v < edge;
            tile[i / 34][i % 34] = inside ? in[(image * channels + from) * plane + v * edge + u] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 9; ++k) sum += filters[(to * channels + from) * 9 + k] * tile[y + k / 3][x + k % 3];
        __syncthreads();
    }
    out[(image * channels + to) * plane + (top + y) * edge + x] = sum;
}

// Eight channels of a pixel a thread, with their weights in shared memory too.
__global__ void layer_registers(const float* in, const float* weights, float* out) {
    __shared__ float tile[10][34], own[9][8];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x, top = blockIdx.x * 8, to = blockIdx.y * 8,
              image = blockIdx.z;
    float sums[8] = {};
    for (int from = 0; from < channels; ++from) {
        for (int i = t; i < 340; i += 256) {
            const int u = i % 34 - 1, v = top + i / 34 - 1;
            const bool inside = u >= 0 && u < edge && v >= 0 && v < edge;
            tile[i / 34][i % 34] = inside ? in[(image * channels + from) * plane + v * edge + u] : 0;
        }
        if (t < 72) own[t % 9][t / 9] = weights[((to + t / 9) * channels + from) * 9 + t % 9];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 9; ++k) {
            const float value = tile[y + k / 3][x + k % 3];
#pragma unroll
            for (int c = 0; c < 8; ++c) sums[c] += own[k][c] * value;
        }
        __syncthreads();
    }
    for (int c = 0; c < 8; ++c) out[(image * channels + to + c) * plane + (top + y) * edge + x] = sums[c];
}

void layer() {
    const int n = images * channels * plane;
    const auto in = filled<float>(n, random_float);
    const auto weights = filled<float>(channels * channels * 9, [](unsigned i) { return random_float(~i) - 0.5f; });
    CHECK(cudaMemcpyToSymbol(filters, weights.data(), sizeof filters));
    float *din = to_device(in), *dw = to_device(weights), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        const int x = i % edge, y = i / edge % edge, to = i / plane % channels, image = i / plane / channels;
        double sum = 0;
        for (int from = 0; from < channels; ++from)
            for (int k = 0; k < 9; ++k) {
                const int u = x + k % 3 - 1, v = y + k / 3 - 1;
                if (u >= 0 && u < edge && v >= 0 && v < edge)
                    sum +=
                        weights[(to * channels + from) * 9 + k] * in[(image * channels + from) * plane + v * edge + u];
            }
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "8 of 32 x 32^2", out, n, check, launch); };
    const dim3 blocks(edge / 8, channels, images), threads(32, 8);
    show("layer: global", [&] { layer_global<<<blocks, threads>>>(din, dw, out); });
    show("layer: shared", [&] { layer_shared<<<blocks, threads>>>(din, out); });
    show("layer: registers", [&] { layer_registers<<<dim3(4, 4, images), threads>>>(din, dw, out); });
    for (float* each : {din, dw, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    top();
    gru();
    layer();
    return wrong;
}
