// Sixth held-out set: conjugate gradients, and an image cut in two.
#include "families.cuh"

namespace {

// --- one iteration of conjugate gradients, five points on 1024^2, zero outside: new x, r and p

constexpr int side = 1024, points = side * side, parts = 256;

// From the scalars: p A p, the new r r, the old r r.
enum { curvature, residual, residual_before };

__device__ float five(const float* p, int i) {
    const int x = i % side, y = i / side;
    float sum = 4 * p[i];
    if (x > 0) sum -= p[i - 1];
    if (x < side - 1) sum -= p[i + 1];
    if (y > 0) sum -= p[i - side];
    if (y < side - 1) sum -= p[i + side];
    return sum;
}

__global__ void gradient_stencil(const float* p, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = five(p, i);
}

__global__ void gradient_csr(const int* first, const int* columns, const float* values, const float* p, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = first[i]; k < first[i + 1]; ++k) sum += values[k] * p[columns[k]];
    y[i] = sum;
}

__global__ void gradient_dot(const float* a, const float* b, float* sums) {
    float sum = 0;
    FOR_GRID(i, points) sum += a[i] * b[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void gradient_total(const float* sums, float* total) {
    const float sum = block_sum(sums[threadIdx.x]);
    if (threadIdx.x == 0) *total = sum;
}

__global__ void gradient_add(const float* a, const float* b, float* out, const float* over, const float* under,
                             float sign) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + sign * *over / *under * b[i];
}

__global__ void gradient_clear(float* scalars) { scalars[threadIdx.x] = 0; }

// Product and its sum in one.
__global__ void gradient_first(const float* p, float* y, float* scalars) {
    float sum = 0;
    FOR_GRID(i, points) {
        y[i] = five(p, i);
        sum += p[i] * y[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(&scalars[curvature], sum);
}

__global__ void gradient_second(const float* x, const float* r, const float* p, const float* y, float* out,
                                float* scalars) {
    const float step = scalars[residual_before] / scalars[curvature];
    float sum = 0;
    FOR_GRID(i, points) {
        out[i] = x[i] + step * p[i];
        const float left = r[i] - step * y[i];
        out[points + i] = left;
        sum += left * left;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(&scalars[residual], sum);
}

__global__ void gradient_third(const float* p, float* out, const float* scalars) {
    const float factor = scalars[residual] / scalars[residual_before];
    FOR_GRID(i, points) out[2 * points + i] = out[points + i] + factor * p[i];
}

void gradients() {
    const int n = points;
    const auto random = [](unsigned seed) { return [seed](unsigned i) { return random_float(i + seed) - 0.5f; }; };
    const auto x = filled<float>(n, random(0)), r = filled<float>(n, random(n)), p = filled<float>(n, random(2 * n));
    std::vector<int> first{0}, columns;
    std::vector<float> values;
    std::vector<double> product(n), result(3 * n);
    double pap = 0, before = 0, after = 0;
    for (int i = 0; i < n; ++i) {
        const auto element = [&](int column, float value, bool inside) {
            if (!inside) return;
            columns.push_back(column), values.push_back(value);
            product[i] += value * p[column];
        };
        element(i - side, -1, i >= side);
        element(i - 1, -1, i % side > 0);
        element(i, 4, true);
        element(i + 1, -1, i % side < side - 1);
        element(i + side, -1, i < n - side);
        first.push_back(static_cast<int>(columns.size()));
        pap += p[i] * product[i], before += r[i] * r[i];
    }
    for (int i = 0; i < n; ++i) {
        result[i] = x[i] + before / pap * p[i];
        result[n + i] = r[i] - before / pap * product[i];
        after += result[n + i] * result[n + i];
    }
    for (int i = 0; i < n; ++i) result[2 * n + i] = result[n + i] + after / before * p[i];
    float *dx = to_device(x), *dr = to_device(r), *dp = to_device(p), *y = empty_array<float>(n);
    float *dv = to_device(values), *sums = empty_array<float>(parts), *out = empty_array<float>(3 * n);
    float* scalars = to_device(std::vector<float>{0, 0, static_cast<float>(before)});
    int *df = to_device(first), *dc = to_device(columns);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "1024^2", out, 3 * n, [&](std::size_t i) { return result[i]; }, launch);
    };
    const auto separate = [&](auto apply) {
        const auto dot = [&](const float* a, const float* b, int scalar) {
            gradient_dot<<<parts, 256>>>(a, b, sums);
            gradient_total<<<1, parts>>>(sums, scalars + scalar);
        };
        apply();
        dot(dp, y, curvature);
        gradient_add<<<n / 256, 256>>>(dx, dp, out, scalars + residual_before, scalars + curvature, 1);
        gradient_add<<<n / 256, 256>>>(dr, y, out + n, scalars + residual_before, scalars + curvature, -1);
        dot(out + n, out + n, residual);
        gradient_add<<<n / 256, 256>>>(out + n, dp, out + 2 * n, scalars + residual, scalars + residual_before, 1);
    };
    show("gradients: rows", [&] { separate([&] { gradient_csr<<<n / 256, 256>>>(df, dc, dv, dp, y); }); });
    show("gradients: stencil", [&] { separate([&] { gradient_stencil<<<n / 256, 256>>>(dp, y); }); });
    show("gradients: fused", [&] {
        gradient_clear<<<1, 2>>>(scalars);
        gradient_first<<<2 * parts, 256>>>(dp, y, scalars);
        gradient_second<<<2 * parts, 256>>>(dx, dr, dp, y, out, scalars);
        gradient_third<<<2 * parts, 256>>>(dp, out, scalars);
    });
    for (float* each : {dx, dr, dp, y, dv, sums, out, scalars}) CHECK(cudaFree(each));
    for (int* each : {df, dc}) CHECK(cudaFree(each));
}

// --- the rectangle that differs most from the rest of a black and white image of 96^2, by an integral image

constexpr int edge = 96, area = edge * edge, line = edge + 1;

// How much it explains if the rectangle has one shade and the rest another.
__host__ __device__ inline float score(const int* sums, int left, int top, int right, int bottom) {
    const int size = (right - left) * (bottom - top);
    const int inside =
        sums[bottom * line + right] - sums[top * line + right] - sums[bottom * line + left] + sums[top * line + left];
    const float in = static_cast<float>(inside), out = static_cast<float>(sums[line * line - 1] - inside);
    return in * in / static_cast<float>(size) + out * out / static_cast<float>(max(area - size, 1));
}

using Best = unsigned long long;

// The score is never negative, so its bits are in order.
__device__ Best packed(float score, int left, int top, int right, int bottom) {
    return static_cast<Best>(__float_as_uint(score)) << 32 | left << 21 | top << 14 | right << 7 | bottom;
}

__global__ void rectangle_clear(Best* best) { *best = 0; }

__global__ void rectangle_unpack(const Best* best, float* out) {
    out[0] = __uint_as_float(static_cast<unsigned>(*best >> 32));
    for (int k = 0; k < 4; ++k) out[k + 1] = static_cast<float>(*best >> (21 - 7 * k) & 127);
}

// A thread has a corner, and goes over all sizes.
__global__ void rectangle_corners(const int* sums, Best* best) {
    const int left = blockIdx.x * 16 + threadIdx.x, top = blockIdx.y * 16 + threadIdx.y;
    Best mine = 0;
    for (int bottom = top + 1; bottom <= edge; ++bottom)
        for (int right = left + 1; right <= edge; ++right)
            mine = max(mine, packed(score(sums, left, top, right, bottom), left, top, right, bottom));
    atomicMax(best, mine);
}

// A thread has a size, and goes over all places.
__device__ Best best_of(const int* sums, int wide, int high) {
    float most = 0;
    int at = 0;
    for (int top = 0; top + high <= edge; ++top)
        for (int left = 0; left + wide <= edge; ++left) {
            const float value = score(sums, left, top, left + wide, top + high);
            if (value > most) most = value, at = left << 7 | top;
        }
    return packed(most, at >> 7, at & 127, (at >> 7) + wide, (at & 127) + high);
}

__global__ void rectangle_sizes(const int* sums, Best* best) {
    atomicMax(best, best_of(sums, blockIdx.x * 16 + threadIdx.x + 1, blockIdx.y * 16 + threadIdx.y + 1));
}

// The integral image in shared memory, one atomic a block.
__global__ void rectangle_shared(const int* sums, Best* best) {
    __shared__ int all[line * line];
    __shared__ Best most;
    const int t = threadIdx.y * 16 + threadIdx.x;
    for (int i = t; i < line * line; i += 256) all[i] = sums[i];
    if (t == 0) most = 0;
    __syncthreads();
    atomicMax(&most, best_of(all, blockIdx.x * 16 + threadIdx.x + 1, blockIdx.y * 16 + threadIdx.y + 1));
    __syncthreads();
    if (t == 0) atomicMax(best, most);
}

void rectangle() {
    std::vector<int> sums(line * line);
    for (int y = 1; y < line; ++y)
        for (int x = 1; x < line; ++x) {
            const bool inside = x > 20 && x <= 61 && y > 33 && y <= 80;
            sums[y * line + x] = (random_float(y * line + x) < (inside ? 0.7f : 0.3f)) + sums[(y - 1) * line + x] +
                                 sums[y * line + x - 1] - sums[(y - 1) * line + x - 1];
        }
    std::vector<float> found(5);
    for (int top = 0; top < edge; ++top)
        for (int bottom = top + 1; bottom <= edge; ++bottom)
            for (int left = 0; left < edge; ++left)
                for (int right = left + 1; right <= edge; ++right) {
                    const float value = score(sums.data(), left, top, right, bottom);
                    if (value <= found[0]) continue;
                    found = {value, left * 1.f, top * 1.f, right * 1.f, bottom * 1.f};
                }
    int* ds = to_device(sums);
    Best* best = empty_array<Best>(1);
    float* out = empty_array<float>(5);
    const auto show = [&](const char* what, void (*kernel)(const int*, Best*)) {
        measure(
            what, "96^2", out, 5, [&](std::size_t i) { return found[i]; },
            [&] {
                rectangle_clear<<<1, 1>>>(best);
                kernel<<<dim3(edge / 16, edge / 16), dim3(16, 16)>>>(ds, best);
                rectangle_unpack<<<1, 1>>>(best, out);
            });
    };
    show("rectangle: corners", rectangle_corners);
    show("rectangle: sizes", rectangle_sizes);
    show("rectangle: shared", rectangle_shared);
    CHECK(cudaFree(ds));
    CHECK(cudaFree(best));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    gradients();
    rectangle();
    return wrong;
}
