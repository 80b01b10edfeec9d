// Families of kernels that sum: whole arrays, rows of matrices, classes of bytes.
#include <cooperative_groups.h>

#include "families.cuh"

namespace {

// --- dot product
// --------------------------------------------------------------------------------------------------------

__global__ void dot_atomics(const float* x, const float* y, float* out, int n) {
    float sum = 0;
    FOR_GRID(i, n) sum += x[i] * y[i];
    atomicAdd(out, sum);
}

__global__ void dot_tree(const float* x, const float* y, float* out, int n) {
    __shared__ float sums[256];
    float sum = 0;
    FOR_GRID(i, n) sum += x[i] * y[i];
    sums[threadIdx.x] = sum;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

__global__ void dot_shuffles(const float4* x, const float4* y, float* out, int n) {
    float sum = 0;
    FOR_GRID(i, n / 4) {
        const float4 u = x[i], v = y[i];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

void dot() {
    const int n = 1 << 24;
    const auto x = filled<float>(n, random_float), y = filled<float>(n, [](unsigned i) { return random_float(~i); });
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * y[i];
    float *dx = to_device(x), *dy = to_device(y), *out = empty_array<float>(1);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^24", out, 1, [&](std::size_t) { return sum * launches; }, launch);
    };
    show("dot: atomics", [&] { dot_atomics<<<132 * 8, 256>>>(dx, dy, out, n); });
    show("dot: tree", [&] { dot_tree<<<132 * 8, 256>>>(dx, dy, out, n); });
    show("dot: shuffles", [&] { dot_shuffles<<<132 * 8, 256>>>((const float4*)dx, (const float4*)dy, out, n); });
    for (float* each : {dx, dy, out}) CHECK(cudaFree(each));
}

// --- a sum in one launch or two
// -----------------------------------------------------------------------------------------

__global__ void total_partial(const float* x, float* partial, int n) {
    float sum = 0;
    FOR_GRID(i, n) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void total_final(const float* partial, float* out, int blocks) {
    float sum = 0;
    for (int i = threadIdx.x; i < blocks; i += 256) sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}

__global__ void total_grid(const float* x, float* partial, float* out, int n) {
    float sum = 0;
    FOR_GRID(i, n) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x != 0) return;
    sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}

// The block that comes last adds.
__global__ void total_last(const float* x, volatile float* partial, float* out, unsigned* done, int n) {
    __shared__ bool last;
    float sum = 0;
    FOR_GRID(i, n) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}

void total() {
    int n = 1 << 25;
    const int blocks = 132 * 4;
    const auto x = filled<float>(n, random_float);
    double sum = 0;
    for (float each : x) sum += each;
    float *dx = to_device(x), *partial = empty_array<float>(blocks), *out = empty_array<float>(1);
    unsigned* done = to_device(std::vector<unsigned>(1));
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^25", out, 1, [&](std::size_t) { return sum; }, launch);
    };
    show("total: two launches", [&] {
        total_partial<<<blocks, 256>>>(dx, partial, n);
        total_final<<<1, 256>>>(partial, out, blocks);
    });
    show("total: grid barrier", [&] {
        void* arguments[] = {&dx, &partial, &out, &n};
        CHECK(cudaLaunchCooperativeKernel((const void*)total_grid, dim3(blocks), dim3(256), arguments, 0, nullptr));
    });
    show("total: last block", [&] { total_last<<<blocks, 256>>>(dx, partial, out, done, n); });
    for (void* each : {(void*)dx, (void*)partial, (void*)out, (void*)done}) CHECK(cudaFree(each));
}

// --- matrix times vector
// ------------------------------------------------------------------------------------------------

__global__ void matvec_thread(const float* a, const float* x, float* y, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
    y[row] = sum;
}

__global__ void matvec_warp(const float* a, const float* x, float* y, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int k = threadIdx.x % 32; k < n; k += 32) sum += a[row * n + k] * x[k];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

// Eight warps share x, 1024 elements at a time.
__global__ void matvec_shared(const float* a, const float* x, float* y, int n) {
    __shared__ float xs[1024];
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int first = 0; first < n; first += 1024) {
        for (int i = threadIdx.x; i < 1024; i += 256) xs[i] = x[first + i];
        __syncthreads();
        for (int k = threadIdx.x % 32; k < 1024; k += 32) sum += a[row * n + first + k] * xs[k];
        __syncthreads();
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

__global__ void matvec_block(const float4* a, const float4* x, float* y, int n) {
    float sum = 0;
    for (int k = threadIdx.x; k < n / 4; k += 256) {
        const float4 u = a[blockIdx.x * n / 4 + k], v = x[k];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

void matvec() {
    const int n = 4096;
    const auto a = filled<float>(n * n, random_float),
               x = filled<float>(n, [](unsigned i) { return random_float(~i); });
    float *da = to_device(a), *dx = to_device(x), *y = empty_array<float>(n);
    const auto check = [&](std::size_t row) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096^2", y, n, check, launch); };
    show("matvec: thread a row", [&] { matvec_thread<<<n / 64, 64>>>(da, dx, y, n); });
    show("matvec: warp a row", [&] { matvec_warp<<<n / 8, 256>>>(da, dx, y, n); });
    show("matvec: shared x", [&] { matvec_shared<<<n / 8, 256>>>(da, dx, y, n); });
    show("matvec: block a row", [&] { matvec_block<<<n, 256>>>((const float4*)da, (const float4*)dx, y, n); });
    for (float* each : {da, dx, y}) CHECK(cudaFree(each));
}

// --- softmax of rows
// ----------------------------------------------------------------------------------------------------

constexpr int width = 1024;

__global__ void softmax_thread(const float* in, float* out) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    in += row * width, out += row * width;
    float most = -INFINITY, sum = 0;
    for (int k = 0; k < width; ++k) most = fmaxf(most, in[k]);
    for (int k = 0; k < width; ++k) sum += expf(in[k] - most);
    for (int k = 0; k < width; ++k) out[k] = expf(in[k] - most) / sum;
}

__global__ void softmax_three_passes(const float* in, float* out) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    in += row * width, out += row * width;
    float most = -INFINITY, sum = 0;
    for (int k = lane; k < width; k += 32) most = fmaxf(most, in[k]);
    most = warp_max(most);
    for (int k = lane; k < width; k += 32) sum += expf(in[k] - most);
    sum = warp_sum(sum);
    for (int k = lane; k < width; k += 32) out[k] = expf(in[k] - most) / sum;
}

// The maximum and the sum in one pass.
__global__ void softmax_online(const float* in, float* out) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    in += row * width, out += row * width;
    float most = -INFINITY, sum = 0;
    for (int k = lane; k < width; k += 32) {
        const float value = in[k], more = fmaxf(most, value);
        sum = sum * __expf(most - more) + __expf(value - more);
        most = more;
    }
    const float all = warp_max(most);
    sum = warp_sum(sum * __expf(most - all));
    for (int k = lane; k < width; k += 32) out[k] = __expf(in[k] - all) / sum;
}

// A block a row, which stays in registers.
__global__ void softmax_registers(const float4* in, float4* out) {
    __shared__ float maxima[8];
    const int i = blockIdx.x * width / 4 + threadIdx.x;
    float4 v = in[i];
    float most = warp_max(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = most;
    __syncthreads();
    for (int k = 0; k < 8; ++k) most = fmaxf(most, maxima[k]);
    v = {__expf(v.x - most), __expf(v.y - most), __expf(v.z - most), __expf(v.w - most)};
    const float scale = 1 / block_sum(v.x + v.y + v.z + v.w);
    out[i] = {v.x * scale, v.y * scale, v.z * scale, v.w * scale};
}

// --- normalization of rows
// ----------------------------------------------------------------------------------------------

__global__ void norm_two_passes(const float* in, float* out) {
    in += blockIdx.x * width, out += blockIdx.x * width;
    float sum = 0, squares = 0;
    for (int k = threadIdx.x; k < width; k += 256) sum += in[k];
    const float mean = block_sum(sum) / width;
    for (int k = threadIdx.x; k < width; k += 256) squares += (in[k] - mean) * (in[k] - mean);
    const float scale = rsqrtf(block_sum(squares) / width + 1e-5f);
    for (int k = threadIdx.x; k < width; k += 256) out[k] = (in[k] - mean) * scale;
}

__global__ void norm_warp(const float* in, float* out) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    in += row * width, out += row * width;
    float sum = 0, squares = 0;
    for (int k = lane; k < width; k += 32) sum += in[k], squares += in[k] * in[k];
    const float mean = warp_sum(sum) / width, scale = rsqrtf(warp_sum(squares) / width - mean * mean + 1e-5f);
    for (int k = lane; k < width; k += 32) out[k] = (in[k] - mean) * scale;
}

__global__ void norm_registers(const float4* in, float4* out) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float4 v[8];
    float sum = 0, squares = 0;
    for (int k = 0; k < 8; ++k) {
        v[k] = in[row * 256 + k * 32 + lane];
        sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    const float mean = warp_sum(sum) / width;
    for (int k = 0; k < 8; ++k) {
        v[k] = {v[k].x - mean, v[k].y - mean, v[k].z - mean, v[k].w - mean};
        squares += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
    const float s = rsqrtf(warp_sum(squares) / width + 1e-5f);
    for (int k = 0; k < 8; ++k) out[row * 256 + k * 32 + lane] = {v[k].x * s, v[k].y * s, v[k].z * s, v[k].w * s};
}

void rows() {
    const int n = 16384;
    const auto in = filled<float>(n * width, [](unsigned i) { return 4 * random_float(i); });
    float *din = to_device(in), *out = empty_array<float>(n * width);
    const auto softmax = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < width; ++k) sum += std::exp(in[i / width * width + k]);
        return std::exp(in[i]) / sum;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "16384 x 1024", out, n * width, softmax, launch);
    };
    show("softmax: thread a row", [&] { softmax_thread<<<n / 64, 64>>>(din, out); });
    show("softmax: three passes", [&] { softmax_three_passes<<<n / 8, 256>>>(din, out); });
    show("softmax: online", [&] { softmax_online<<<n / 8, 256>>>(din, out); });
    show("softmax: registers", [&] { softmax_registers<<<n, 256>>>((const float4*)din, (float4*)out); });
    const auto norm = [&](std::size_t i) {
        double sum = 0, squares = 0;
        for (int k = 0; k < width; ++k) sum += in[i / width * width + k];
        for (int k = 0; k < width; ++k) squares += std::pow(in[i / width * width + k] - sum / width, 2);
        return (in[i] - sum / width) / std::sqrt(squares / width);
    };
    const auto show_norm = [&](const char* what, auto launch) {
        measure(what, "16384 x 1024", out, n * width, norm, launch);
    };
    show_norm("norm: two passes", [&] { norm_two_passes<<<n, 256>>>(din, out); });
    show_norm("norm: warp a row", [&] { norm_warp<<<n / 8, 256>>>(din, out); });
    show_norm("norm: registers", [&] { norm_registers<<<n / 8, 256>>>((const float4*)din, (float4*)out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    dot();
    total();
    matvec();
    rows();
    return wrong;
}
