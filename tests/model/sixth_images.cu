// Sixth held-out set: images and pictures.
#include "families.cuh"

namespace {

using Byte = unsigned char;

// --- grey of 2048^2 pixels of red, green and blue

__global__ void grey_bytes(const Byte* in, Byte* out, int wide, int high) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= wide || y >= high) return;
    const Byte* pixel = in + 3 * (y * wide + x);
    out[y * wide + x] = static_cast<Byte>(0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
}

// The weights are doubles, as who writes no f gets them.
__global__ void grey_doubles(const Byte* in, Byte* out, int wide, int high) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= wide || y >= high) return;
    const Byte* pixel = in + 3 * (y * wide + x);
    out[y * wide + x] = static_cast<Byte>(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]);
}

// Threads that follow each other go down.
__global__ void grey_down(const Byte* in, Byte* out, int wide, int high) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= wide || y >= high) return;
    const Byte* pixel = in + 3 * (y * wide + x);
    out[y * wide + x] = static_cast<Byte>(0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
}

__device__ unsigned grey_of(unsigned r, unsigned g, unsigned b) {
    return static_cast<unsigned>(0.299f * (r & 255) + 0.587f * (g & 255) + 0.114f * (b & 255));
}

// Four pixels a thread: three words become one.
__global__ void grey_words(const unsigned* in, unsigned* out, int words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    const unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    out[i] = grey_of(a, a >> 8, a >> 16) | grey_of(a >> 24, b, b >> 8) << 8 | grey_of(b >> 16, b >> 24, c) << 16 |
             grey_of(c >> 8, c >> 16, c >> 24) << 24;
}

void grey() {
    const int side = 2048, n = side * side;
    // No weighted sum is so near a whole number that roundings matter.
    const auto in = filled<Byte>(3 * n, [](unsigned i) { return hash(i) % 51 * 5 + (i % 3 == 0); });
    Byte *din = to_device(in), *out = empty_array<Byte>(n);
    const auto check = [&](std::size_t i) {
        return (299 * in[3 * i] + 587 * in[3 * i + 1] + 114 * in[3 * i + 2]) / 1000;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, n, check, launch); };
    const dim3 block(16, 16), grid(side / 16, side / 16);
    show("grey: bytes", [&] { grey_bytes<<<grid, block>>>(din, out, side, side); });
    show("grey: doubles", [&] { grey_doubles<<<grid, block>>>(din, out, side, side); });
    show("grey: down", [&] { grey_down<<<grid, block>>>(din, out, side, side); });
    show("grey: words", [&] {
        grey_words<<<n / 4 / 256, 256>>>(reinterpret_cast<unsigned*>(din), reinterpret_cast<unsigned*>(out), n / 4);
    });
    for (Byte* each : {din, out}) CHECK(cudaFree(each));
}

// --- the mean of the 5 x 5 pixels about each of 1024 x 768, in each colour; of those that there are at the edge

constexpr int radius = 2;

__global__ void box_pixels(const uchar3* in, uchar3* out, int wide, int high) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= wide || y >= high) return;
    int r = 0, g = 0, b = 0, count = 0;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            const int u = x + dx, v = y + dy;
            if (u < 0 || u >= wide || v < 0 || v >= high) continue;
            const uchar3 pixel = in[v * wide + u];
            r += pixel.x, g += pixel.y, b += pixel.z, ++count;
        }
    out[y * wide + x] = make_uchar3(r / count, g / count, b / count);
}

// The tile and its border lie in shared memory.
__global__ void box_tile(const uchar3* in, uchar3* out, int wide, int high) {
    constexpr int side = 16 + 2 * radius;
    __shared__ uchar3 tile[side][side];
    const int left = blockIdx.x * 16 - radius, top = blockIdx.y * 16 - radius;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < side * side; k += 256) {
        const int u = left + k % side, v = top + k / side;
        if (u >= 0 && u < wide && v >= 0 && v < high) tile[k / side][k % side] = in[v * wide + u];
    }
    __syncthreads();
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= wide || y >= high) return;
    int r = 0, g = 0, b = 0, count = 0;
    for (int v = max(y - radius, 0); v <= min(y + radius, high - 1); ++v)
        for (int u = max(x - radius, 0); u <= min(x + radius, wide - 1); ++u) {
            const uchar3 pixel = tile[v - top][u - left];
            r += pixel.x, g += pixel.y, b += pixel.z, ++count;
        }
    out[y * wide + x] = make_uchar3(r / count, g / count, b / count);
}

// Rows first: sums of each colour.
__global__ void box_rows(const uchar3* in, ushort3* sums, int wide, int high) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= wide || y >= high) return;
    int r = 0, g = 0, b = 0;
    for (int u = max(x - radius, 0); u <= min(x + radius, wide - 1); ++u) {
        const uchar3 pixel = in[y * wide + u];
        r += pixel.x, g += pixel.y, b += pixel.z;
    }
    sums[y * wide + x] = make_ushort3(r, g, b);
}

// Then columns.
__global__ void box_columns(const ushort3* sums, uchar3* out, int wide, int high) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= wide || y >= high) return;
    int r = 0, g = 0, b = 0;
    const int begin = max(y - radius, 0), end = min(y + radius, high - 1);
    for (int v = begin; v <= end; ++v) {
        const ushort3 sum = sums[v * wide + x];
        r += sum.x, g += sum.y, b += sum.z;
    }
    const int count = (end - begin + 1) * (min(x + radius, wide - 1) - max(x - radius, 0) + 1);
    out[y * wide + x] = make_uchar3(r / count, g / count, b / count);
}

void box() {
    const int wide = 1024, high = 768, n = wide * high;
    const auto in = filled<Byte>(3 * n, [](unsigned i) { return hash(i) % 256; });
    Byte *din = to_device(in), *out = empty_array<Byte>(3 * n);
    ushort3* sums = empty_array<ushort3>(n);
    const auto check = [&](std::size_t i) {
        const int x = i / 3 % wide, y = static_cast<int>(i / 3 / wide);
        int sum = 0, count = 0;
        for (int v = std::max(y - radius, 0); v <= std::min(y + radius, high - 1); ++v)
            for (int u = std::max(x - radius, 0); u <= std::min(x + radius, wide - 1); ++u, ++count)
                sum += in[3 * (v * wide + u) + i % 3];
        return sum / count;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "1024 x 768", out, 3 * n, check, [&] {
            launch(reinterpret_cast<uchar3*>(din), reinterpret_cast<uchar3*>(out), dim3(wide / 16, high / 16),
                   dim3(16, 16));
        });
    };
    show("box: pixels",
         [&](uchar3* from, uchar3* to, dim3 grid, dim3 block) { box_pixels<<<grid, block>>>(from, to, wide, high); });
    show("box: tile",
         [&](uchar3* from, uchar3* to, dim3 grid, dim3 block) { box_tile<<<grid, block>>>(from, to, wide, high); });
    show("box: rows, columns", [&](uchar3* from, uchar3* to, dim3 grid, dim3 block) {
        box_rows<<<grid, block>>>(from, sums, wide, high);
        box_columns<<<grid, block>>>(sums, to, wide, high);
    });
    for (Byte* each : {din, out}) CHECK(cudaFree(each));
    CHECK(cudaFree(sums));
}

// --- 1024 discs, half transparent, one over the other in their order: 384 x 256 pixels (x, y: middle; z: radius)

constexpr int screen_wide = 384, screen_high = 256, discs = 1024;

__device__ float covered(float shade, float4 disc, float x, float y) {
    const float dx = x - disc.x, dy = y - disc.y;
    return dx * dx + dy * dy <= disc.z * disc.z ? 0.5f * shade + 0.5f * disc.w : shade;
}

__global__ void circles_all(const float4* all, float* out) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float shade = 1;
    for (int i = 0; i < discs; ++i) shade = covered(shade, all[i], x, y);
    out[y * screen_wide + x] = shade;
}

// 256 discs at a time from shared memory.
__global__ void circles_shared(const float4* all, float* out) {
    __shared__ float4 some[256];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, t = threadIdx.y * 16 + threadIdx.x;
    float shade = 1;
    for (int begin = 0; begin < discs; begin += 256) {
        __syncthreads();
        some[t] = all[begin + t];
        __syncthreads();
        for (int i = 0; i < 256; ++i) shade = covered(shade, some[i], x, y);
    }
    out[y * screen_wide + x] = shade;
}

// Only those that may touch the block's tile: each thread tests one of 256, and a scan keeps their order.
__global__ void circles_listed(const float4* all, float* out) {
    __shared__ float4 some[256];
    __shared__ int places[256];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, t = threadIdx.y * 16 + threadIdx.x;
    float shade = 1;
    for (int begin = 0; begin < discs; begin += 256) {
        const float4 disc = all[begin + t];
        const float dx = disc.x - fminf(fmaxf(disc.x, blockIdx.x * 16), blockIdx.x * 16 + 15);
        const float dy = disc.y - fminf(fmaxf(disc.y, blockIdx.y * 16), blockIdx.y * 16 + 15);
        const int touches = dx * dx + dy * dy <= disc.z * disc.z;
        places[t] = touches;
        for (int d = 1; d < 256; d *= 2) {
            __syncthreads();
            const int other = t >= d ? places[t - d] : 0;
            __syncthreads();
            places[t] += other;
        }
        if (touches) some[places[t] - 1] = disc;
        __syncthreads();
        for (int i = 0; i < places[255]; ++i) shade = covered(shade, some[i], x, y);
        __syncthreads();
    }
    out[y * screen_wide + x] = shade;
}

void circles() {
    const int n = screen_wide * screen_high;
    const auto all = filled<float4>(discs, [](unsigned i) {
        return float4{random_float(4 * i) * screen_wide, random_float(4 * i + 1) * screen_high,
                      4 + 28 * random_float(4 * i + 2), random_float(4 * i + 3)};
    });
    float4* din = to_device(all);
    float* out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        float shade = 1;
        for (const float4& disc : all) {
            const float dx = static_cast<float>(i % screen_wide) - disc.x;
            const float dy = static_cast<float>(i / screen_wide) - disc.y;
            if (dx * dx + dy * dy <= disc.z * disc.z) shade = 0.5f * shade + 0.5f * disc.w;
        }
        return shade;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "1024, 384 x 256", out, n, check, [&] { launch(dim3(screen_wide / 16, screen_high / 16)); });
    };
    const dim3 block(16, 16);
    show("circles: all", [&](dim3 grid) { circles_all<<<grid, block>>>(din, out); });
    show("circles: shared", [&](dim3 grid) { circles_shared<<<grid, block>>>(din, out); });
    show("circles: listed", [&](dim3 grid) { circles_listed<<<grid, block>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    grey();
    box();
    circles();
    return wrong;
}
