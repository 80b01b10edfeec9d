// Ninth held-out set: brightness of grey images, mosaics of mean colours, images rebuilt from their edges.
#include "families.cuh"

namespace {

// --- contrast and brightness of 4096 x 4096 bytes: 1.25 v - 20.5, from 0 to 255

__global__ void bright_byte(const unsigned char* in, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float value = 1.25 * in[y * width + x] - 20.5;
        if (value < 0.0) value = 0.0;
        if (value > 255.0) value = 255.0;
        out[y * width + x] = (unsigned char)value;
    }
}

__device__ inline unsigned char brighter(unsigned char v) {
    return static_cast<unsigned char>(fminf(fmaxf(1.25f * v - 20.5f, 0), 255));
}

__global__ void bright_float(const unsigned char* in, unsigned char* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = brighter(in[i]);
}

__global__ void bright_four(const uchar4* in, uchar4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uchar4 v = in[i];
    out[i] = make_uchar4(brighter(v.x), brighter(v.y), brighter(v.z), brighter(v.w));
}

// The new values of all bytes first; then 16 bytes a thread at a time.
__global__ void bright_table(const uint4* in, uint4* out, int n) {
    __shared__ unsigned table[256];
    table[threadIdx.x] = brighter(threadIdx.x);
    __syncthreads();
    const auto look = [&](unsigned v) {
        return table[v & 255] | table[v >> 8 & 255] << 8 | table[v >> 16 & 255] << 16 | table[v >> 24] << 24;
    };
    FOR_GRID(i, n) {
        const uint4 v = in[i];
        out[i] = make_uint4(look(v.x), look(v.y), look(v.z), look(v.w));
    }
}

void brightness() {
    const int side = 4096, n = side * side;
    const auto in = filled<unsigned char>(n, [](unsigned i) { return hash(i) & 255; });
    unsigned char *din = to_device(in), *out = empty_array<unsigned char>(n);
    const auto check = [&](std::size_t i) { return std::floor(std::fmin(std::fmax(1.25 * in[i] - 20.5, 0), 255)); };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096 x 4096", out, n, check, launch); };
    show("brightness: double",
         [&] { bright_byte<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(din, out, side, side); });
    show("brightness: float", [&] { bright_float<<<n / 256, 256>>>(din, out, n); });
    show("brightness: four bytes", [&] {
        bright_four<<<n / 1024, 256>>>(reinterpret_cast<uchar4*>(din), reinterpret_cast<uchar4*>(out), n / 4);
    });
    show("brightness: table",
         [&] { bright_table<<<1024, 256>>>(reinterpret_cast<uint4*>(din), reinterpret_cast<uint4*>(out), n / 16); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- a mosaic of tiles of 32 x 32 pixels, 3 bytes each, of an image of 2048 x 2048: every tile gets its mean colour

constexpr int across = 2048, tile_side = 32, tiles = across / tile_side, tile_pixels = tile_side * tile_side;

__global__ void mosaic_thread(const unsigned char* in, unsigned char* out) {
    int tile = blockIdx.x * blockDim.x + threadIdx.x;
    int left = tile % tiles * tile_side, top = tile / tiles * tile_side;
    int red = 0, green = 0, blue = 0;
    for (int y = top; y < top + tile_side; ++y)
        for (int x = left; x < left + tile_side; ++x) {
            red += in[3 * (y * across + x)];
            green += in[3 * (y * across + x) + 1];
            blue += in[3 * (y * across + x) + 2];
        }
    for (int y = top; y < top + tile_side; ++y)
        for (int x = left; x < left + tile_side; ++x) {
            out[3 * (y * across + x)] = red / tile_pixels;
            out[3 * (y * across + x) + 1] = green / tile_pixels;
            out[3 * (y * across + x) + 2] = blue / tile_pixels;
        }
}

__global__ void mosaic_atomics(const unsigned char* in, unsigned char* out) {
    __shared__ int sums[3];
    const int at = 3 * ((blockIdx.y * tile_side + threadIdx.y) * across + blockIdx.x * tile_side + threadIdx.x);
    if (threadIdx.x == 0 && threadIdx.y == 0) sums[0] = sums[1] = sums[2] = 0;
    __syncthreads();
    for (int c = 0; c < 3; ++c) atomicAdd(&sums[c], static_cast<int>(in[at + c]));
    __syncthreads();
    for (int c = 0; c < 3; ++c) out[at + c] = sums[c] / tile_pixels;
}

// Four pixels, which are three words, a thread.
__global__ void mosaic_words(const unsigned* in, unsigned* out) {
    __shared__ unsigned sums[3][8];
    const int row = blockIdx.y * tile_side + threadIdx.x / 8;
    const int at = row * (across * 3 / 4) + blockIdx.x * (tile_side * 3 / 4) + threadIdx.x % 8 * 3;
    const unsigned a = in[at], b = in[at + 1], c = in[at + 2];
    unsigned red = (a & 255) + (a >> 24) + (b >> 16 & 255) + (c >> 8 & 255);
    unsigned green = (a >> 8 & 255) + (b & 255) + (b >> 24) + (c >> 16 & 255);
    unsigned blue = (a >> 16 & 255) + (b >> 8 & 255) + (c & 255) + (c >> 24);
    red = __reduce_add_sync(~0u, red);
    green = __reduce_add_sync(~0u, green);
    blue = __reduce_add_sync(~0u, blue);
    if (threadIdx.x % 32 == 0) {
        sums[0][threadIdx.x / 32] = red;
        sums[1][threadIdx.x / 32] = green;
        sums[2][threadIdx.x / 32] = blue;
    }
    __syncthreads();
    red = green = blue = 0;
    for (int w = 0; w < 8; ++w) red += sums[0][w], green += sums[1][w], blue += sums[2][w];
    red /= tile_pixels, green /= tile_pixels, blue /= tile_pixels;
    out[at] = red | green << 8 | blue << 16 | red << 24;
    out[at + 1] = green | blue << 8 | red << 16 | green << 24;
    out[at + 2] = blue | red << 8 | green << 16 | blue << 24;
}

void mosaic() {
    const int n = 3 * across * across;
    const auto in = filled<unsigned char>(n, [](unsigned i) {
        const unsigned x = i / 3 % across, y = i / 3 / across;
        return ((x / 8 + y / 4 + i % 3 * 50) % 200) + hash(i) % 56;
    });
    unsigned char *din = to_device(in), *out = empty_array<unsigned char>(n);
    const auto check = [&](std::size_t i) {
        const int left = i / 3 % across / tile_side * tile_side, top = i / 3 / across / tile_side * tile_side;
        int sum = 0;
        for (int y = top; y < top + tile_side; ++y)
            for (int x = left; x < left + tile_side; ++x) sum += in[3 * (y * across + x) + i % 3];
        return sum / tile_pixels;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048 x 2048 x 3", out, n, check, launch); };
    show("mosaic: thread a tile", [&] { mosaic_thread<<<tiles * tiles / 64, 64>>>(din, out); });
    show("mosaic: atomics", [&] { mosaic_atomics<<<dim3(tiles, tiles), dim3(tile_side, tile_side)>>>(din, out); });
    show("mosaic: words", [&] {
        mosaic_words<<<dim3(tiles, tiles), 256>>>(reinterpret_cast<unsigned*>(din), reinterpret_cast<unsigned*>(out));
    });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- six steps of rebuilding 1024 x 1024 pixels, in a frame of white ones, from their edges

constexpr int pixels = 1024, pitch = pixels + 2;
constexpr float white = 255;

__global__ void unedge_row(const float* old, const float* edge, float* now) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int col = 1; col <= pixels; ++col)
        now[row * pitch + col] =
            0.25f * (old[(row - 1) * pitch + col] + old[(row + 1) * pitch + col] + old[row * pitch + col - 1] +
                     old[row * pitch + col + 1] - edge[row * pitch + col]);
}

__global__ void unedge_column(const float* old, const float* edge, float* now) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int row = 1; row <= pixels; ++row)
        now[row * pitch + col] =
            0.25f * (old[(row - 1) * pitch + col] + old[(row + 1) * pitch + col] + old[row * pitch + col - 1] +
                     old[row * pitch + col + 1] - edge[row * pitch + col]);
}

__global__ void unedge_pixel(const float* old, const float* edge, float* now) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x + 1, row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int at = row * pitch + col;
    now[at] = 0.25f * (old[at - pitch] + old[at + pitch] + old[at - 1] + old[at + 1] - edge[at]);
}

// Two steps: the first of 32 x 32 pixels, the second of the 30 x 30 within.
__global__ void unedge_two(const float* __restrict__ old, const float* __restrict__ edge, float* __restrict__ now) {
    __shared__ float first[32][32];
    const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 30 + x, row = blockIdx.y * 30 + y;
    const int at = row * pitch + col;
    const bool inside = col >= 1 && col <= pixels && row >= 1 && row <= pixels;
    float own = 0;
    if (inside) {
        own = edge[at];
        first[y][x] = 0.25f * (old[at - pitch] + old[at + pitch] + old[at - 1] + old[at + 1] - own);
    } else {
        first[y][x] = white;
    }
    __syncthreads();
    if (inside && x >= 1 && x <= 30 && y >= 1 && y <= 30)
        now[at] = 0.25f * (first[y - 1][x] + first[y + 1][x] + first[y][x - 1] + first[y][x + 1] - own);
}

void unedge() {
    const int n = pitch * pitch;
    const auto framed = [](unsigned i) {
        const int row = i / pitch, col = i % pitch;
        return row < 1 || row > pixels || col < 1 || col > pixels;
    };
    const auto image = filled<float>(n, [&](unsigned i) { return framed(i) ? white : 255 * random_float(i); });
    const auto edge = filled<float>(n, [&](unsigned i) {
        if (framed(i)) return 0.0f;
        return image[i - pitch] + image[i + pitch] + image[i - 1] + image[i + 1] - 4 * image[i];
    });
    std::vector<float> now(n, white), old;
    float *start = to_device(now), *other = to_device(now), *out = empty_array<float>(n), *de = to_device(edge);
    for (int step = 0; step < 6; ++step) {
        old = now;
        for (int i = 0; i < n; ++i)
            if (!framed(i)) now[i] = 0.25f * (old[i - pitch] + old[i + pitch] + old[i - 1] + old[i + 1] - edge[i]);
    }
    const auto check = [&](std::size_t i) { return now[i]; };
    const auto show = [&](const char* what, int steps, auto one) {
        const auto launch = [&] {
            one(start, steps % 2 > 0 ? out : other);
            for (int left = steps - 1; left > 0; --left) left % 2 > 0 ? one(other, out) : one(out, other);
        };
        measure(what, "1024 x 1024, 6 steps", out, n, check, launch, start);
    };
    show("unedge: thread a row", 6,
         [&](const float* from, float* to) { unedge_row<<<pixels / 64, 64>>>(from, de, to); });
    show("unedge: thread a column", 6,
         [&](const float* from, float* to) { unedge_column<<<pixels / 64, 64>>>(from, de, to); });
    show("unedge: thread a pixel", 6, [&](const float* from, float* to) {
        unedge_pixel<<<dim3(pixels / 16, pixels / 16), dim3(16, 16)>>>(from, de, to);
    });
    const int blocks = (pixels + 29) / 30;
    show("unedge: two steps", 3,
         [&](const float* from, float* to) { unedge_two<<<dim3(blocks, blocks), dim3(32, 32)>>>(from, de, to); });
    for (float* each : {start, other, out, de}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    brightness();
    mosaic();
    unedge();
    return wrong;
}
