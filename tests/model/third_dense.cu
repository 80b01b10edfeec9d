// Third held-out set: families of many small dense problems.
#include <cuda_fp16.h>

#include "families.cuh"

namespace {

// --- scores of the best paths through hidden Markov models (Viterbi): 32 states, 64 steps, 16 symbols

constexpr int states = 32, steps = 64, symbols = 16;

// Scores are logarithms. `change` is by state before and state after, `emit` by symbol and state.
__global__ void viterbi_thread(const unsigned char* seen, const float* change, const float* emit, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float score[states] = {}, next[states];
    for (int t = 0; t < steps; ++t) {
        const float* now = emit + seen[i * steps + t] * states;
        for (int s = 0; s < states; ++s) {
            float best = score[0] + change[s];
            for (int k = 1; k < states; ++k) best = fmaxf(best, score[k] + change[k * states + s]);
            next[s] = best + now[s];
        }
        for (int s = 0; s < states; ++s) score[s] = next[s];
    }
    float best = score[0];
    for (int s = 1; s < states; ++s) best = fmaxf(best, score[s]);
    out[i] = best;
}

// A warp a sequence, a lane a state with its column of changes in registers.
__global__ void viterbi_warp(const unsigned char* seen, const float* change, const float* emit, float* out) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float column[states], score = 0;
#pragma unroll
    for (int k = 0; k < states; ++k) column[k] = change[k * states + lane];
    for (int t = 0; t < steps; ++t) {
        float best = -1e30f;
#pragma unroll
        for (int k = 0; k < states; ++k) best = fmaxf(best, __shfl_sync(~0u, score, k) + column[k]);
        score = best + emit[seen[i * steps + t] * states + lane];
    }
    score = warp_max(score);
    if (lane == 0) out[i] = score;
}

// The same with scores and all tables in shared memory, four sequences a block.
__global__ void viterbi_shared(const unsigned char* seen, const float* change, const float* emit, float* out) {
    __shared__ float changes[states * states], emits[symbols * states], score[2][4][states];
    for (int k = threadIdx.x; k < states * states; k += 128) changes[k] = change[k];
    for (int k = threadIdx.x; k < symbols * states; k += 128) emits[k] = emit[k];
    const int own = threadIdx.x / 32, i = blockIdx.x * 4 + own, s = threadIdx.x % 32;
    score[0][own][s] = 0;
    for (int t = 0; t < steps; ++t) {
        __syncthreads();
        const float* before = score[t % 2][own];
        float best = before[0] + changes[s];
        for (int k = 1; k < states; ++k) best = fmaxf(best, before[k] + changes[k * states + s]);
        score[1 - t % 2][own][s] = best + emits[seen[i * steps + t] * states + s];
    }
    const float best = warp_max(score[0][own][s]);
    if (s == 0) out[i] = best;
}

void viterbi() {
    const int n = 1 << 12;
    const auto seen = filled<unsigned char>(n * steps, [](unsigned i) { return hash(i) % symbols; });
    const auto change = filled<float>(states * states, [](unsigned i) { return std::log(0.01f + random_float(i)); });
    const auto emit = filled<float>(symbols * states, [](unsigned i) { return std::log(0.01f + random_float(~i)); });
    unsigned char* ds = to_device(seen);
    float *dc = to_device(change), *de = to_device(emit), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        std::vector<double> score(states);
        for (int t = 0; t < steps; ++t) {
            std::vector<double> next(states, -1e30);
            for (int k = 0; k < states * states; ++k)
                next[k % states] = std::fmax(next[k % states], score[k / states] + change[k]);
            for (int s = 0; s < states; ++s) score[s] = next[s] + emit[seen[i * steps + t] * states + s];
        }
        return *std::max_element(score.begin(), score.end());
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^12 of 64", out, n, check, launch); };
    show("viterbi: thread", [&] { viterbi_thread<<<n / 64, 64>>>(ds, dc, de, out); });
    show("viterbi: warp", [&] { viterbi_warp<<<n / 8, 256>>>(ds, dc, de, out); });
    show("viterbi: shared", [&] { viterbi_shared<<<n / 4, 128>>>(ds, dc, de, out); });
    for (void* each : {(void*)ds, (void*)dc, (void*)de, (void*)out}) CHECK(cudaFree(each));
}

// --- attention: 768 heads of 64 queries, 64 keys and values, 32 numbers each

constexpr int keys = 64, width = 32, head = keys * width;
constexpr float attention_scale = 0.17677669f;

// A thread a query; exponentials are of the score below the largest so far.
__device__ inline void attend(const float* q, const float* k, const float* v, float* out) {
    float query[width], sums[width] = {}, most = -1e30f, total = 0;
#pragma unroll
    for (int d = 0; d < width; ++d) query[d] = q[d] * attention_scale;
    for (int j = 0; j < keys; ++j) {
        float score = 0;
#pragma unroll
        for (int d = 0; d < width; ++d) score += query[d] * k[j * width + d];
        const float next = fmaxf(most, score), decay = expf(most - next), weight = expf(score - next);
        most = next, total = total * decay + weight;
#pragma unroll
        for (int d = 0; d < width; ++d) sums[d] = sums[d] * decay + weight * v[j * width + d];
    }
#pragma unroll
    for (int d = 0; d < width; ++d) out[d] = sums[d] / total;
}

__global__ void attention_global(const float* q, const float* k, const float* v, float* out) {
    const int first = blockIdx.x * head, own = first + threadIdx.x * width;
    attend(q + own, k + first, v + first, out + own);
}

__global__ void attention_shared(const float* q, const float* k, const float* v, float* out) {
    __shared__ float all_keys[head], values[head];
    const int first = blockIdx.x * head, own = first + threadIdx.x * width;
    for (int i = threadIdx.x; i < head; i += keys) all_keys[i] = k[first + i], values[i] = v[first + i];
    __syncthreads();
    attend(q + own, all_keys, values, out + own);
}

// A warp a query: a lane has two keys, then one of the 32 sums.
__global__ void attention_warp(const float* q, const float* k, const float* v, float* out) {
    __shared__ float turned[width][keys + 1], values[head];
    const int first = blockIdx.x * head, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < head; i += 256) turned[i % width][i / width] = k[first + i], values[i] = v[first + i];
    __syncthreads();
    for (int row = threadIdx.x / 32; row < keys; row += 8) {
        const float query = q[first + row * width + lane] * attention_scale;
        float low = 0, high = 0;
        for (int d = 0; d < width; ++d) {
            const float each = __shfl_sync(~0u, query, d);
            low += each * turned[d][lane], high += each * turned[d][lane + 32];
        }
        const float most = warp_max(fmaxf(low, high));
        low = expf(low - most), high = expf(high - most);
        const float total = warp_sum(low + high);
        float sum = 0;
        for (int j = 0; j < keys; ++j) sum += __shfl_sync(~0u, j < 32 ? low : high, j % 32) * values[j * width + lane];
        out[first + row * width + lane] = sum / total;
    }
}

// Keys and values in halves, two at a time.
__global__ void attention_halves(const float* q, const __half2* k, const __half2* v, float* out) {
    __shared__ __half2 all_keys[head / 2], values[head / 2];
    const int first = blockIdx.x * head, own = first + threadIdx.x * width;
    for (int i = threadIdx.x; i < head / 2; i += keys) all_keys[i] = k[first / 2 + i], values[i] = v[first / 2 + i];
    __syncthreads();
    __half2 query[width / 2];
    float2 sums[width / 2] = {};
    float total = 0;
#pragma unroll
    for (int d = 0; d < width / 2; ++d)
        query[d] = __floats2half2_rn(q[own + 2 * d] * attention_scale, q[own + 2 * d + 1] * attention_scale);
    for (int j = 0; j < keys; ++j) {
        __half2 score = __float2half2_rn(0);
#pragma unroll
        for (int d = 0; d < width / 2; ++d) score = __hfma2(query[d], all_keys[j * width / 2 + d], score);
        const float weight = __expf(__low2float(score) + __high2float(score));
        total += weight;
#pragma unroll
        for (int d = 0; d < width / 2; ++d) {
            const float2 value = __half22float2(values[j * width / 2 + d]);
            sums[d].x += weight * value.x, sums[d].y += weight * value.y;
        }
    }
#pragma unroll
    for (int d = 0; d < width / 2; ++d) out[own + 2 * d] = sums[d].x / total, out[own + 2 * d + 1] = sums[d].y / total;
}

void attention() {
    const int heads = 768, n = heads * head;
    const auto q = filled<float>(n, [](unsigned i) { return random_float(i) * 2 - 1; });
    const auto k = filled<float>(n, [](unsigned i) { return random_float(~i) * 2 - 1; });
    const auto v = filled<float>(n, [](unsigned i) { return random_float(i ^ 0x5555u << 16) * 2 - 1; });
    const auto k16 = filled<__half>(n, [&](unsigned i) { return __float2half(k[i]); });
    const auto v16 = filled<__half>(n, [&](unsigned i) { return __float2half(v[i]); });
    float *dq = to_device(q), *dk = to_device(k), *dv = to_device(v), *out = empty_array<float>(n);
    __half *dk16 = to_device(k16), *dv16 = to_device(v16);
    const auto check = [&](std::size_t i) {
        double total = 0, sum = 0;
        for (std::size_t j = i / head * head; j < i / head * head + head; j += width) {
            double score = 0;
            for (int d = 0; d < width; ++d) score += q[i / width * width + d] * attention_scale * k[j + d];
            total += std::exp(score), sum += std::exp(score) * v[j + i % width];
        }
        return sum / total;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "768 of 64 x 32", out, n, check, launch); };
    show("attention: global", [&] { attention_global<<<heads, keys>>>(dq, dk, dv, out); });
    show("attention: shared", [&] { attention_shared<<<heads, keys>>>(dq, dk, dv, out); });
    show("attention: warp", [&] { attention_warp<<<heads, 256>>>(dq, dk, dv, out); });
    show("attention: halves", [&] { attention_halves<<<heads, keys>>>(dq, (__half2*)dk16, (__half2*)dv16, out); });
    for (void* each : {(void*)dq, (void*)dk, (void*)dv, (void*)dk16, (void*)dv16, (void*)out}) CHECK(cudaFree(each));
}

// --- products of many pairs of matrices of 4 x 4

// Element k of matrix m is at m * pitch + k * stride.
__global__ void four_thread(const float* a, const float* b, float* c, int pitch, int stride) {
    const int m = (blockIdx.x * blockDim.x + threadIdx.x) * pitch;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float sum = 0;
            for (int k = 0; k < 4; ++k) sum += a[m + (i * 4 + k) * stride] * b[m + (k * 4 + j) * stride];
            c[m + (i * 4 + j) * stride] = sum;
        }
}

// A thread a row.
__global__ void four_rows(const float4* a, const float4* b, float4* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, m = i & ~3;
    const float4 row = a[i], b0 = b[m], b1 = b[m + 1], b2 = b[m + 2], b3 = b[m + 3];
    c[i] = make_float4(row.x * b0.x + row.y * b1.x + row.z * b2.x + row.w * b3.x,
                       row.x * b0.y + row.y * b1.y + row.z * b2.y + row.w * b3.y,
                       row.x * b0.z + row.y * b1.z + row.z * b2.z + row.w * b3.z,
                       row.x * b0.w + row.y * b1.w + row.z * b2.w + row.w * b3.w);
}

// A thread an element: what it multiplies, other lanes have.
__global__ void four_elements(const float* a, const float* b, float* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float left = a[i], right = b[i];
    float sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += __shfl_sync(~0u, left, (i / 4 % 4) * 4 + k, 16) * __shfl_sync(~0u, right, k * 4 + i % 4, 16);
    c[i] = sum;
}

void four() {
    const int count = 1 << 19, n = count * 16;
    const auto a = filled<float>(n, random_float);
    const auto b = filled<float>(n, [](unsigned i) { return random_float(~i); });
    const auto weave = [&](const std::vector<float>& x) {
        return filled<float>(n, [&](unsigned i) { return x[i % count * 16 + i / count]; });
    };
    float *da = to_device(a), *db = to_device(b), *wa = to_device(weave(a)), *wb = to_device(weave(b));
    float* out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += a[i / 4 * 4 + k] * b[i / 16 * 16 + k * 4 + i % 4];
        return sum;
    };
    const auto check_woven = [&](std::size_t i) { return check(i % count * 16 + i / count); };
    const auto show = [&](const char* what, auto expected, auto launch) {
        measure(what, "2^19 of 4 x 4", out, n, expected, launch);
    };
    show("four: thread", check, [&] { four_thread<<<count / 128, 128>>>(da, db, out, 16, 1); });
    show("four: woven", check_woven, [&] { four_thread<<<count / 128, 128>>>(wa, wb, out, 1, count); });
    show("four: rows", check, [&] { four_rows<<<n / 4 / 256, 256>>>((float4*)da, (float4*)db, (float4*)out); });
    show("four: elements", check, [&] { four_elements<<<n / 256, 256>>>(da, db, out); });
    for (float* each : {da, db, wa, wb, out}) CHECK(cudaFree(each));
}

// --- transpose of a tall matrix of 16 columns times the matrix, in doubles

constexpr int slim = 16, results = slim * slim, chunk = 256;  // columns; rows a block

__global__ void gram_global(const double* a, double* out) {
    const int i = threadIdx.y, j = threadIdx.x;
    double sum = 0;
    for (int r = blockIdx.x * chunk; r < (blockIdx.x + 1) * chunk; ++r) sum += a[r * slim + i] * a[r * slim + j];
    atomicAdd(&out[i * slim + j], sum);
}

__global__ void gram_shared(const double* a, double* out) {
    __shared__ double rows[slim][slim];
    const int i = threadIdx.y, j = threadIdx.x;
    double sum = 0;
    for (int r = blockIdx.x * chunk; r < (blockIdx.x + 1) * chunk; r += slim) {
        rows[i][j] = a[(r + i) * slim + j];
        __syncthreads();
        for (int k = 0; k < slim; ++k) sum += rows[k][i] * rows[k][j];
        __syncthreads();
    }
    atomicAdd(&out[i * slim + j], sum);
}

// A warp has all results, a lane 2 x 4 of them.
__global__ void gram_registers(const double* a, double* out) {
    const int i = threadIdx.x % 32 / 4 * 2, j = threadIdx.x % 4 * 4, warp = threadIdx.x / 32;
    double sums[2][4] = {};
    for (int r = blockIdx.x * chunk + warp; r < (blockIdx.x + 1) * chunk; r += 4) {
        const double2* row = reinterpret_cast<const double2*>(a + r * slim);
        const double2 left = row[i / 2], low = row[j / 2], high = row[j / 2 + 1];
        const double right[4] = {low.x, low.y, high.x, high.y};
        for (int k = 0; k < 4; ++k) sums[0][k] += left.x * right[k], sums[1][k] += left.y * right[k];
    }
    for (int k = 0; k < 8; ++k) atomicAdd(&out[(i + k / 4) * slim + j + k % 4], sums[k / 4][k % 4]);
}

void gram() {
    const int n = 1 << 17;
    const auto a = filled<double>(n * slim, random_float);
    std::vector<double> products(results);
    for (int k = 0; k < n * results; ++k) products[k % results] += a[k / slim] * a[k / results * slim + k % slim];
    double *da = to_device(a), *out = empty_array<double>(results);
    const auto check = [&](std::size_t i) { return launches * products[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^17 x 16", out, results, check, launch); };
    show("gram: global", [&] { gram_global<<<n / chunk, dim3(slim, slim)>>>(da, out); });
    show("gram: shared", [&] { gram_shared<<<n / chunk, dim3(slim, slim)>>>(da, out); });
    show("gram: registers", [&] { gram_registers<<<n / chunk, 128>>>(da, out); });
    for (double* each : {da, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    viterbi();
    attention();
    four();
    gram();
    return wrong;
}
