// Eighth held-out set: boxes that overlap, samples put on a grid, and curves.
#include "families.cuh"

namespace {

// --- with how many others each of many boxes overlaps

struct Box {
    float low[3], high[3];
};

__device__ __host__ inline bool overlap(const Box& a, const Box& b) {
    return a.low[0] <= b.high[0] && b.low[0] <= a.high[0] && a.low[1] <= b.high[1] && b.low[1] <= a.high[1] &&
           a.low[2] <= b.high[2] && b.low[2] <= a.high[2];
}

__global__ void boxes_pairs(const Box* boxes, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Box mine = boxes[i];
    int count = 0;
    for (int j = 0; j < n; ++j)
        if (j != i && overlap(mine, boxes[j])) ++count;
    out[i] = count;
}

__global__ void boxes_shared(const Box* boxes, int* out, int n) {
    __shared__ Box tile[64];
    const Box mine = boxes[blockIdx.x * 64 + threadIdx.x];
    int count = -1;  // not with itself
    for (int first = 0; first < n; first += 64) {
        __syncthreads();
        tile[threadIdx.x] = boxes[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 64; ++k) count += overlap(mine, tile[k]);
    }
    out[blockIdx.x * 64 + threadIdx.x] = count;
}

__global__ void boxes_clear(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 0; }

// Boxes are in the order of their lower x.
__global__ void boxes_sweep(const Box* boxes, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Box mine = boxes[i];
    int count = 0;
    for (int j = i + 1; j < n && boxes[j].low[0] <= mine.high[0]; ++j)
        if (overlap(mine, boxes[j])) {
            ++count;
            atomicAdd(&out[j], 1);
        }
    atomicAdd(&out[i], count);
}

constexpr int box_cells = 50;  // on a side, each as large as a box may be

__device__ __host__ inline int box_cell(float low) {
    const int cell = static_cast<int>(low * box_cells);
    return cell < box_cells ? cell : box_cells - 1;
}

// Boxes are in the order of the cells in which their lower corners are; `starts` has the first of each cell.
__global__ void boxes_cells(const Box* boxes, const int* starts, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Box mine = boxes[i];
    const int x = box_cell(mine.low[0]), y = box_cell(mine.low[1]), z = box_cell(mine.low[2]);
    int count = 0;
    for (int cz = max(z - 1, 0); cz <= min(z + 1, box_cells - 1); ++cz)
        for (int cy = max(y - 1, 0); cy <= min(y + 1, box_cells - 1); ++cy)
            for (int cx = max(x - 1, 0); cx <= min(x + 1, box_cells - 1); ++cx) {
                const int cell = (cz * box_cells + cy) * box_cells + cx;
                for (int j = starts[cell]; j < starts[cell + 1]; ++j)
                    if (j != i && overlap(mine, boxes[j])) ++count;
            }
    out[i] = count;
}

std::vector<Box> random_boxes(int n, float most) {
    std::vector<Box> boxes(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k) {
            boxes[i].low[k] = random_float(6 * i + k);
            boxes[i].high[k] = boxes[i].low[k] + most * (0.25f + 0.74f * random_float(6 * i + 3 + k));
        }
    return boxes;
}

void overlaps() {
    const int few = 6144, many = 1 << 16, cells = box_cells * box_cells * box_cells;
    const auto loose = random_boxes(few, 0.1f);
    auto sorted = random_boxes(many, 1.0f / box_cells);
    std::sort(sorted.begin(), sorted.end(), [](const Box& a, const Box& b) { return a.low[0] < b.low[0]; });
    const auto cell = [](const Box& b) {
        return (box_cell(b.low[2]) * box_cells + box_cell(b.low[1])) * box_cells + box_cell(b.low[0]);
    };
    auto celled = sorted;
    std::sort(celled.begin(), celled.end(), [&](const Box& a, const Box& b) { return cell(a) < cell(b); });
    std::vector<int> starts(cells + 1);
    for (const Box& each : celled) ++starts[cell(each) + 1];
    for (int k = 0; k < cells; ++k) starts[k + 1] += starts[k];
    Box *dl = to_device(loose), *ds = to_device(sorted), *dc = to_device(celled);
    int *starting = to_device(starts), *out = empty_array<int>(many);
    const auto show = [&](const char* what, const std::vector<Box>& boxes, auto launch) {
        const auto check = [&](std::size_t i) {
            int count = -1;
            for (const Box& each : boxes) count += overlap(boxes[i], each);
            return count;
        };
        measure(what, boxes.size() == few ? "6144" : "2^16", out, boxes.size(), check, launch);
    };
    show("boxes: pairs", loose, [&] { boxes_pairs<<<few / 64, 64>>>(dl, out, few); });
    show("boxes: shared", loose, [&] { boxes_shared<<<few / 64, 64>>>(dl, out, few); });
    show("boxes: sweep", sorted, [&] {
        boxes_clear<<<many / 256, 256>>>(out);
        boxes_sweep<<<many / 256, 256>>>(ds, out, many);
    });
    show("boxes: cells", celled, [&] { boxes_cells<<<many / 128, 128>>>(dc, starting, out); });
    for (Box* each : {dl, ds, dc}) CHECK(cudaFree(each));
    CHECK(cudaFree(starting));
    CHECK(cudaFree(out));
}

// --- 2^17 complex samples, anywhere, spread over the points of a grid of 512 x 512 that are near them

constexpr int samples = 1 << 17, side = 512, bin = 4, bins = side / bin;

__device__ __host__ inline float spread(float d) {
    const float w = 1 - d * d / 4;
    return w > 0 ? w * w : 0;
}

// Place and value.
__global__ void gridding_scatter(const float4* in, float2* out) {
    const float4 s = in[blockIdx.x * blockDim.x + threadIdx.x];
    const int left = static_cast<int>(s.x) - 1, top = static_cast<int>(s.y) - 1;
    for (int y = max(top, 0); y <= min(top + 3, side - 1); ++y)
        for (int x = max(left, 0); x <= min(left + 3, side - 1); ++x) {
            const float w = spread(s.x - x) * spread(s.y - y);
            atomicAdd(&out[y * side + x].x, w * s.z);
            atomicAdd(&out[y * side + x].y, w * s.w);
        }
}

__global__ void gridding_clear(float2* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = make_float2(0, 0); }

__device__ inline void gather(const float4& s, int x, int y, float2& sum) {
    if (fabsf(s.x - x) >= 2 || fabsf(s.y - y) >= 2) return;
    const float w = spread(s.x - x) * spread(s.y - y);
    sum.x += w * s.z, sum.y += w * s.w;
}

// Samples are in the order of bins of 4 x 4 points.
__global__ void gridding_gather(const float4* in, const int* starts, float2* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float2 sum = make_float2(0, 0);
    for (int by = max(y - 2, 0) / bin; by <= min((y + 2) / bin, bins - 1); ++by) {
        const int first = max(x - 2, 0) / bin, last = min((x + 2) / bin, bins - 1);
        for (int k = starts[by * bins + first]; k < starts[by * bins + last + 1]; ++k) gather(in[k], x, y, sum);
    }
    out[y * side + x] = sum;
}

// A block of 16 x 16 shares the samples that any of its points needs.
__global__ void gridding_tile(const float4* in, const int* starts, float2* out) {
    __shared__ float4 near[64];
    const int t = threadIdx.y * 16 + threadIdx.x, x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const int bx = blockIdx.x * 4, by = blockIdx.y * 4;
    float2 sum = make_float2(0, 0);
    for (int row = max(by - 1, 0); row <= min(by + 4, bins - 1); ++row) {
        const int last = starts[row * bins + min(bx + 4, bins - 1) + 1];
        for (int first = starts[row * bins + max(bx - 1, 0)]; first < last; first += 64) {
            const int count = min(64, last - first);
            __syncthreads();
            if (t < count) near[t] = in[first + t];
            __syncthreads();
            for (int k = 0; k < count; ++k) gather(near[k], x, y, sum);
        }
    }
    out[y * side + x] = sum;
}

void gridding() {
    const auto bin_of = [](const float4& s) {
        return static_cast<int>(s.y) / bin * bins + static_cast<int>(s.x) / bin;
    };
    std::vector<float4> mixed(samples);
    for (unsigned i = 0; i < samples; ++i)
        mixed[i] = make_float4(random_float(4 * i) * side, random_float(4 * i + 1) * side,
                               random_float(4 * i + 2) - 0.5f, random_float(4 * i + 3) - 0.5f);
    auto sorted = mixed;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const float4& a, const float4& b) { return bin_of(a) < bin_of(b); });
    std::vector<int> starts(bins * bins + 1);
    for (const float4& each : mixed) ++starts[bin_of(each) + 1];
    for (int k = 0; k < bins * bins; ++k) starts[k + 1] += starts[k];
    std::vector<double> want(2 * side * side);
    for (const float4& s : mixed)
        for (int k = 0; k < 16; ++k) {
            const int x = static_cast<int>(s.x) - 1 + k % 4, y = static_cast<int>(s.y) - 1 + k / 4;
            if (x < 0 || y < 0 || x >= side || y >= side) continue;
            const double w = double(spread(s.x - x)) * spread(s.y - y);
            want[2 * (y * side + x)] += w * s.z, want[2 * (y * side + x) + 1] += w * s.w;
        }
    float4 *dm = to_device(mixed), *ds = to_device(sorted);
    float2* out = empty_array<float2>(side * side);
    int* starting = to_device(starts);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^17 on 512 x 512", &out->x, 2 * side * side, [&](std::size_t i) { return want[i]; }, launch);
    };
    const dim3 square(16, 16), tiles(side / 16, side / 16);
    show("gridding: scatter", [&] {
        gridding_clear<<<side * side / 256, 256>>>(out);
        gridding_scatter<<<samples / 256, 256>>>(dm, out);
    });
    show("gridding: gather", [&] { gridding_gather<<<tiles, square>>>(ds, starting, out); });
    show("gridding: tile", [&] { gridding_tile<<<tiles, square>>>(ds, starting, out); });
    CHECK(cudaFree(dm));
    CHECK(cudaFree(ds));
    CHECK(cudaFree(out));
    CHECK(cudaFree(starting));
}

// --- up to 32 points of each of 2^17 curves by three control points (Bezier), more where it bends more

constexpr int curves = 1 << 17, most = 32;

struct Curve {
    float2 a, b, c;
};

// Rounded alike on every machine.
__device__ __host__ inline int curve_points(const Curve& k) {
    const float bx = k.b.x - 0.5f * (k.a.x + k.c.x), by = k.b.y - 0.5f * (k.a.y + k.c.y);
    const float dx = k.c.x - k.a.x, dy = k.c.y - k.a.y;
    const float bend = sqrtf(fmaf(bx, bx, by * by)) / sqrtf(fmaf(dx, dx, dy * dy));
    const float count = bend * 16;
    return count < 4 ? 4 : count < most ? static_cast<int>(count) : most;
}

__device__ __host__ inline float2 curve_point(const Curve& k, int i, int count) {
    const float u = i / (count - 1.0f), v = 1 - u;
    return make_float2(v * v * k.a.x + 2 * u * v * k.b.x + u * u * k.c.x,
                       v * v * k.a.y + 2 * u * v * k.b.y + u * u * k.c.y);
}

__global__ void curves_block(const Curve* in, float2* out) {
    const int count = curve_points(in[blockIdx.x]);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[blockIdx.x * most + i] = curve_point(in[blockIdx.x], i, count);
}

__global__ void curves_thread(const Curve* in, float2* out) {
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    const Curve mine = in[line];
    const int count = curve_points(mine);
    for (int i = 0; i < count; ++i) out[line * most + i] = curve_point(mine, i, count);
}

// Eight threads a curve.
__global__ void curves_lanes(const Curve* in, float2* out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, line = t / 8;
    const Curve mine = in[line];
    const int count = curve_points(mine);
    for (int i = t % 8; i < count; i += 8) out[line * most + i] = curve_point(mine, i, count);
}

void bezier() {
    const auto point = [](unsigned i) { return make_float2(random_float(2 * i), random_float(2 * i + 1)); };
    const auto in = filled<Curve>(curves, [&](unsigned i) {
        return Curve{point(3 * i), point(3 * i + 1), point(3 * i + 2)};
    });
    Curve* lines = to_device(in);
    float2* out = empty_array<float2>(curves * most);
    const auto check = [&](std::size_t at) {
        const Curve& curve = in[at / 2 / most];
        const int i = at / 2 % most, count = curve_points(curve);
        if (i >= count) return 0.0f;
        const float2 p = curve_point(curve, i, count);
        return at % 2 ? p.y : p.x;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^17", &out->x, 2 * curves * most, check, launch);
    };
    show("bezier: block", [&] { curves_block<<<curves, 32>>>(lines, out); });
    show("bezier: thread", [&] { curves_thread<<<curves / 128, 128>>>(lines, out); });
    show("bezier: lanes", [&] { curves_lanes<<<curves / 32, 256>>>(lines, out); });
    CHECK(cudaFree(lines));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    overlaps();
    gridding();
    bezier();
    return wrong;
}
