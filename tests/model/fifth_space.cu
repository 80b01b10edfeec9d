// Fifth held-out set: families of fields, of orbits and of places.
#include "families.cuh"

namespace {

// --- a step of Maxwell's equations in the plane (FDTD): 2048^2 of E and of both parts of H

constexpr int edge = 2048, cells = edge * edge;

__global__ void fdtd_hx(const float* e, const float* from, float* to) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * edge + x;
    to[i] = from[i] - (y < edge - 1 ? 0.5f * (e[i + edge] - e[i]) : 0);
}

__global__ void fdtd_hy(const float* e, const float* from, float* to) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * edge + x;
    to[i] = from[i] + (x < edge - 1 ? 0.5f * (e[i + 1] - e[i]) : 0);
}

__global__ void fdtd_e(const float* hx, const float* hy, const float* from, float* to) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * edge + x;
    to[i] = from[i] + (x > 0 && y > 0 ? 0.5f * (hy[i] - hy[i - 1] - hx[i] + hx[i - edge]) : 0);
}

// The new fields at cell i = (x, y); what H is beside it is computed again.
__host__ __device__ inline float3 fdtd_cell(const float* e, const float* hx, const float* hy, int x, int y) {
    const int i = y * edge + x;
    const float own_x = hx[i] - (y < edge - 1 ? 0.5f * (e[i + edge] - e[i]) : 0);
    const float own_y = hy[i] + (x < edge - 1 ? 0.5f * (e[i + 1] - e[i]) : 0);
    if (x == 0 || y == 0) return make_float3(e[i], own_x, own_y);
    const float up = hx[i - edge] - 0.5f * (e[i] - e[i - edge]), left = hy[i - 1] + 0.5f * (e[i] - e[i - 1]);
    return make_float3(e[i] + 0.5f * (own_y - left - own_x + up), own_x, own_y);
}

__global__ void fdtd_once(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * edge + x;
    const float3 next = fdtd_cell(in, in + cells, in + 2 * cells, x, y);
    out[i] = next.x, out[cells + i] = next.y, out[2 * cells + i] = next.z;
}

// A warp goes down 64 rows of 32 columns and keeps what is above.
__global__ void fdtd_down(const float* in, float* out) {
    const float *hx = in + cells, *hy = in + 2 * cells;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, top = blockIdx.y * 64;
    float own = in[top * edge + x], above = 0;
    if (top > 0) above = hx[(top - 1) * edge + x] - 0.5f * (own - in[(top - 1) * edge + x]);
    for (int y = top; y < top + 64; ++y) {
        const int i = y * edge + x;
        const float below = y < edge - 1 ? in[i + edge] : own;
        float right = __shfl_down_sync(~0u, own, 1);
        if (lane == 31) right = x < edge - 1 ? in[i + 1] : own;
        const float new_x = hx[i] - 0.5f * (below - own), new_y = hy[i] + 0.5f * (right - own);
        float left = __shfl_up_sync(~0u, new_y, 1);
        if (lane == 0 && x > 0) left = hy[i - 1] + 0.5f * (own - in[i - 1]);
        out[i] = own + (x > 0 && y > 0 ? 0.5f * (new_y - left - new_x + above) : 0);
        out[cells + i] = above = new_x;
        out[2 * cells + i] = new_y;
        own = below;
    }
}

void fdtd() {
    const auto in = filled<float>(3 * cells, random_float);
    float *din = to_device(in), *out = empty_array<float>(3 * cells);
    const auto check = [&](std::size_t i) {
        const int x = static_cast<int>(i % edge), y = static_cast<int>(i % cells / edge);
        const float3 next = fdtd_cell(in.data(), in.data() + cells, in.data() + 2 * cells, x, y);
        return i < cells ? next.x : i < 2 * cells ? next.y : next.z;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, 3 * cells, check, launch); };
    const dim3 blocks(edge / 32, edge / 8), threads(32, 8);
    show("fdtd: fields", [&] {
        fdtd_hx<<<blocks, threads>>>(din, din + cells, out + cells);
        fdtd_hy<<<blocks, threads>>>(din, din + 2 * cells, out + 2 * cells);
        fdtd_e<<<blocks, threads>>>(out + cells, out + 2 * cells, din, out);
    });
    show("fdtd: once", [&] { fdtd_once<<<blocks, threads>>>(din, out); });
    show("fdtd: down", [&] { fdtd_down<<<dim3(edge / 128, edge / 64), 128>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

// --- where 2^18 planets are on their orbits: x - e sin x = m (Kepler), by Newton's method

constexpr int planets = 1 << 18;

template <class Real>
__host__ __device__ inline Real newton(Real e, Real m, Real x, Real near, int most) {
    for (int k = 0; k < most; ++k) {
        const Real step = (x - e * sin(x) - m) / (1 - e * cos(x));
        x -= step;
        if (fabs(step) < near) break;
    }
    return x;
}

__global__ void kepler_double(const double2* orbit, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = newton(orbit[i].x, orbit[i].y, orbit[i].y + orbit[i].x / 2, 1e-13, 20);
}

__global__ void kepler_mixed(const double2* orbit, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float e = static_cast<float>(orbit[i].x), m = static_cast<float>(orbit[i].y);
    out[i] = newton(orbit[i].x, orbit[i].y, static_cast<double>(newton(e, m, m + e / 2, 1e-5f, 20)), 1e-8, 2);
}

__global__ void kepler_float(const double2* orbit, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float e = static_cast<float>(orbit[i].x), m = static_cast<float>(orbit[i].y);
    out[i] = newton(e, m, m + e / 2, 1e-6f, 20);
}

void kepler() {
    std::vector<double2> orbit(planets);
    for (unsigned i = 0; i < planets; ++i) orbit[i] = make_double2(0.9 * random_float(i), 3.1 * random_float(~i));
    double2* dorbit = to_device(orbit);
    double* out = empty_array<double>(planets);
    const auto check = [&](std::size_t i) {
        return newton(orbit[i].x, orbit[i].y, orbit[i].y + orbit[i].x / 2, 1e-13, 20);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^18", out, planets, check, launch); };
    show("kepler: double", [&] { kepler_double<<<planets / 256, 256>>>(dorbit, out); });
    show("kepler: mixed", [&] { kepler_mixed<<<planets / 256, 256>>>(dorbit, out); });
    show("kepler: float", [&] { kepler_float<<<planets / 256, 256>>>(dorbit, out); });
    for (void* each : {(void*)dorbit, (void*)out}) CHECK(cudaFree(each));
}

// --- how far the nearest of 2^13 points is from each of 2^15 others: its square

constexpr int places = 1 << 13, others = 1 << 15;

__host__ __device__ inline float apart(float2 a, float2 b) {
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

__global__ void near_list(const float2* place, const float2* other, float* out) {
    __shared__ float2 some[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 own = other[i];
    float least = 1e30f;
    for (int k = 0; k < places; k += 256) {
        __syncthreads();
        some[threadIdx.x] = place[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; ++j) least = fminf(least, apart(own, some[j]));
    }
    out[i] = least;
}

// The middle of each range of places parts it by x, its halves by y, and so on (k-d tree). The side that is farther
// waits on a stack, with how far it is at least.
template <bool shared>
__global__ void near_tree(const float2* place, const float2* other, float* out) {
    __shared__ int4 stacks[shared ? 16 : 1][128];
    int4 local[shared ? 1 : 16];
    const auto waits = [&](int k) -> int4& { return shared ? stacks[k][threadIdx.x] : local[k]; };
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 own = other[i];
    float least = 1e30f;
    int low = 0, high = places, by_y = 0, depth = 1;
    waits(0) = make_int4(-1, 0, 0, __float_as_int(-1));  // the last of all, never too far
    while (true) {
        while (low < high) {
            const int middle = (low + high) / 2;
            const float2 at = place[middle];
            least = fminf(least, apart(own, at));
            const float gap = by_y ? own.y - at.y : own.x - at.x;
            by_y ^= 1;
            waits(depth++) =
                make_int4(gap < 0 ? middle + 1 : low, gap < 0 ? high : middle, by_y, __float_as_int(gap * gap));
            if (gap < 0)
                high = middle;
            else
                low = middle + 1;
        }
        int4 next;
        do next = waits(--depth);
        while (__int_as_float(next.w) >= least);
        if (next.x < 0) break;
        low = next.x, high = next.y, by_y = next.z;
    }
    out[i] = least;
}

void nearest() {
    std::vector<float2> place(places), other(others);
    for (unsigned i = 0; i < places; ++i)
        place[i] = {100 * random_float(i) * random_float(3 * i), 100 * random_float(~i)};
    for (unsigned i = 0; i < others; ++i) other[i] = {100 * random_float(5 * i), 100 * random_float(7 * i)};
    const auto list = place;
    for (int width = places, by_y = 0; width > 0; width /= 2, by_y ^= 1)
        for (int low = 0; low < places;) {  // the ranges of this depth are those between the middles before
            int from = 0, to = places;
            for (int w = places; w > width; w /= 2) {
                const int middle = (from + to) / 2;
                if (low <= middle)
                    to = middle;
                else
                    from = middle + 1;
            }
            if (from < to)
                std::nth_element(place.begin() + from, place.begin() + (from + to) / 2, place.begin() + to,
                                 [&](float2 a, float2 b) { return by_y ? a.y < b.y : a.x < b.x; });
            low = to + 1;
        }
    const auto cell = [](float2 p) {  // along a curve that stays close (Morton)
        unsigned code = 0;
        for (int bit = 0; bit < 6; ++bit)
            code |= (int(p.x / 100 * 64) >> bit & 1) << 2 * bit | (int(p.y / 100 * 64) >> bit & 1) << (2 * bit + 1);
        return code;
    };
    auto along = other;
    std::stable_sort(along.begin(), along.end(), [&](float2 a, float2 b) { return cell(a) < cell(b); });
    float2 *dplace = to_device(place), *dother = to_device(other), *dalong = to_device(along);
    float* out = empty_array<float>(others);
    const auto show = [&](const char* what, const std::vector<float2>& from, auto launch) {
        const auto check = [&](std::size_t i) {
            float least = 1e30f;
            for (const float2 each : list) least = std::min(least, apart(from[i], each));
            return least;
        };
        measure(what, "2^13, 2^15", out, others, check, launch);
    };
    show("near: list", other, [&] { near_list<<<others / 256, 256>>>(dplace, dother, out); });
    show("near: tree", other, [&] { near_tree<false><<<others / 128, 128>>>(dplace, dother, out); });
    show("near: in order", along, [&] { near_tree<false><<<others / 128, 128>>>(dplace, dalong, out); });
    show("near: shared stack", along, [&] { near_tree<true><<<others / 128, 128>>>(dplace, dalong, out); });
    for (void* each : {(void*)dplace, (void*)dother, (void*)dalong, (void*)out}) CHECK(cudaFree(each));
}

// --- depths of 2^13 triangles in 512^2 pixels: the least that covers each

constexpr int screen = 512, triangles = 1 << 13;

struct Triangle {
    int x[3], y[3], depth, dx, dy, left, right, top, bottom;
};

__host__ __device__ inline unsigned depth_at(const Triangle& t, int x, int y) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const int n = (k + 1) % 3;
        if ((t.x[n] - t.x[k]) * (y - t.y[k]) < (t.y[n] - t.y[k]) * (x - t.x[k])) return ~0u;
    }
    return t.depth + t.dx * x + t.dy * y;
}

__global__ void raster_thread(const Triangle* triangle, unsigned* out) {
    const Triangle t = triangle[blockIdx.x * blockDim.x + threadIdx.x];
    for (int y = t.top; y <= t.bottom; ++y)
        for (int x = t.left; x <= t.right; ++x) {
            const unsigned depth = depth_at(t, x, y);
            if (depth != ~0u) atomicMin(out + y * screen + x, depth);
        }
}

__global__ void raster_warp(const Triangle* triangle, unsigned* out) {
    const Triangle& t = triangle[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
    const volatile unsigned* seen = out;  // only a hint: what others do meanwhile is up to atomicMin
    const int width = t.right - t.left + 1, count = width * (t.bottom - t.top + 1);
    for (int i = threadIdx.x % 32; i < count; i += 32) {
        const int x = t.left + i % width, y = t.top + i / width;
        const unsigned depth = depth_at(t, x, y);
        if (depth < seen[y * screen + x]) atomicMin(out + y * screen + x, depth);
    }
}

// A block has 16 x 16 pixels; of 256 triangles at a time it lists those that come near.
__global__ void raster_tile(const Triangle* triangle, unsigned* out) {
    __shared__ int list[256], count;
    const int x = blockIdx.x * 16, y = blockIdx.y * 16, t = threadIdx.x;
    unsigned least = ~0u;
    for (int k = 0; k < triangles; k += 256) {
        if (t == 0) count = 0;
        __syncthreads();
        const Triangle& own = triangle[k + t];
        if (own.left < x + 16 && own.right >= x && own.top < y + 16 && own.bottom >= y)
            list[atomicAdd(&count, 1)] = k + t;
        __syncthreads();
        for (int i = 0; i < count; ++i) least = min(least, depth_at(triangle[list[i]], x + t % 16, y + t / 16));
        __syncthreads();
    }
    out[(y + t / 16) * screen + x + t % 16] = least;
}

void raster() {
    std::vector<Triangle> triangle(triangles);
    for (unsigned i = 0; i < triangles; ++i) {
        Triangle& t = triangle[i];
        const int size = i % 64 == 0 ? 120 : 8 + hash(i) % 12, x = hash(3 * i) % screen, y = hash(5 * i) % screen;
        t = Triangle{{x, x + size, x - size / 3}, {y, y + size / 2, y + size}};
        t.depth = 20000 + hash(7 * i) % 100000;
        t.dx = hash(~i) % 21 - 10, t.dy = hash(~i * 3) % 21 - 10;
        t.left = std::max(x - size / 3, 0), t.right = std::min(x + size, screen - 1);
        t.top = y, t.bottom = std::min(y + size, screen - 1);
    }
    Triangle* dtriangle = to_device(triangle);
    unsigned *start = to_device(std::vector<unsigned>(screen * screen, ~0u)),
             *out = empty_array<unsigned>(screen * screen);
    const auto check = [&](std::size_t i) {
        unsigned least = ~0u;
        for (const Triangle& t : triangle) least = std::min(least, depth_at(t, i % screen, i / screen));
        return least;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^13 in 512^2", out, screen * screen, check, launch, start);
    };
    show("raster: thread", [&] { raster_thread<<<triangles / 64, 64>>>(dtriangle, out); });
    show("raster: warp", [&] { raster_warp<<<triangles / 8, 256>>>(dtriangle, out); });
    show("raster: tiles", [&] { raster_tile<<<dim3(screen / 16, screen / 16), 256>>>(dtriangle, out); });
    for (void* each : {(void*)dtriangle, (void*)start, (void*)out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    fdtd();
    kepler();
    nearest();
    raster();
    return wrong;
}
