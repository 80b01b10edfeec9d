// Seventh held-out set: sharper images and thin edges.
#include "families.cuh"

namespace {

__device__ __host__ inline int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

// --- unsharp mask of 2560 x 1440: what differs from a blurred image (5 x 5) is added to it; edges repeated

constexpr int sharp_wide = 2560, sharp_high = 1440;
__constant__ float blur_weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

__device__ inline float sharper(float v, float blurred) { return fminf(fmaxf(v + 1.5f * (v - blurred), 0), 1); }

__global__ void sharpen_blur(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = 0; dy < 5; ++dy)
        for (int dx = 0; dx < 5; ++dx)
            sum += blur_weights[dy] * blur_weights[dx] *
                   in[inside(y + dy - 2, sharp_high) * sharp_wide + inside(x + dx - 2, sharp_wide)];
    out[y * sharp_wide + x] = sum;
}

__global__ void sharpen_add(const float* in, const float* blurred, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sharper(in[i], blurred[i]);
}

// All in one launch: rows, then columns, of a tile.
__global__ void sharpen_tile(const float* in, float* out) {
    __shared__ float tile[20][36], rows[20][32];
    const int x = blockIdx.x * 32, y = blockIdx.y * 16, t = threadIdx.y * 32 + threadIdx.x;
    for (int k = t; k < 20 * 36; k += 256)
        tile[k / 36][k % 36] = in[inside(y + k / 36 - 2, sharp_high) * sharp_wide + inside(x + k % 36 - 2, sharp_wide)];
    __syncthreads();
    for (int r = threadIdx.y; r < 20; r += 8) {
        float sum = 0;
        for (int d = 0; d < 5; ++d) sum += blur_weights[d] * tile[r][threadIdx.x + d];
        rows[r][threadIdx.x] = sum;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 16; r += 8) {
        float sum = 0;
        for (int d = 0; d < 5; ++d) sum += blur_weights[d] * rows[r + d][threadIdx.x];
        out[(y + r) * sharp_wide + x + threadIdx.x] = sharper(tile[r + 2][threadIdx.x + 2], sum);
    }
}

void sharpen() {
    const int n = sharp_wide * sharp_high;
    const auto in = filled<float>(n, random_float);
    float *din = to_device(in), *between = empty_array<float>(n), *out = empty_array<float>(n);
    const auto check = [&](std::size_t at) {
        const int x = at % sharp_wide, y = at / sharp_wide;
        const double weights[5] = {0.0625, 0.25, 0.375, 0.25, 0.0625};
        double sum = 0;
        for (int k = 0; k < 25; ++k)
            sum += weights[k / 5] * weights[k % 5] *
                   in[inside(y + k / 5 - 2, sharp_high) * sharp_wide + inside(x + k % 5 - 2, sharp_wide)];
        return std::fmin(std::fmax(in[at] + 1.5 * (in[at] - sum), 0), 1);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2560 x 1440", out, n, check, launch); };
    show("sharpen: two launches", [&] {
        sharpen_blur<<<dim3(sharp_wide / 16, sharp_high / 16), dim3(16, 16)>>>(din, between);
        sharpen_add<<<n / 256, 256>>>(din, between, out);
    });
    show("sharpen: tile", [&] { sharpen_tile<<<dim3(sharp_wide / 32, sharp_high / 16), dim3(32, 8)>>>(din, out); });
    for (float* each : {din, between, out}) CHECK(cudaFree(each));
}

// --- thin edges of 2048 x 1536 (Canny): a gradient stays where none of both beside it in its direction is larger

constexpr int thin_wide = 2048, thin_high = 1536;

// The direction, of four: along x, down and right, along y, down and left.
__global__ void thin_polar(const float* gx, const float* gy, float* lengths, unsigned char* directions) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    lengths[i] = sqrtf(gx[i] * gx[i] + gy[i] * gy[i]);
    float angle = atan2f(gy[i], gx[i]) * (4 / 3.14159265f);  // in eighths of a turn
    if (angle < 0) angle += 4;
    directions[i] = static_cast<int>(angle + 0.5f) % 4;
}

__global__ void thin_keep(const float* lengths, const unsigned char* directions, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * thin_wide + x;
    if (x == 0 || y == 0 || x == thin_wide - 1 || y == thin_high - 1) {
        out[i] = 0;
        return;
    }
    int step = 0;
    switch (directions[i]) {
        case 0:
            step = 1;
            break;
        case 1:
            step = thin_wide + 1;
            break;
        case 2:
            step = thin_wide;
            break;
        case 3:
            step = thin_wide - 1;
            break;
    }
    out[i] = lengths[i] >= lengths[i - step] && lengths[i] >= lengths[i + step] ? lengths[i] : 0;
}

// Lengths of a tile in shared memory, no angles.
__global__ void thin_tile(const float* gx, const float* gy, float* out) {
    __shared__ float lengths[10][34];
    const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int r = threadIdx.y; r < 10; r += 8)
        for (int c = threadIdx.x; c < 34; c += 32) {
            const int i = inside(top + r, thin_high) * thin_wide + inside(left + c, thin_wide);
            lengths[r][c] = sqrtf(gx[i] * gx[i] + gy[i] * gy[i]);
        }
    __syncthreads();
    const int c = threadIdx.x + 1, r = threadIdx.y + 1, x = left + c, y = top + r, i = y * thin_wide + x;
    const float dx = gx[i], dy = gy[i], tangent = 0.41421356f;
    int sx = 1, sy = 1;
    if (fabsf(dy) < tangent * fabsf(dx))
        sy = 0;
    else if (fabsf(dx) < tangent * fabsf(dy))
        sx = 0;
    else if ((dx < 0) != (dy < 0))
        sx = -1;
    const float length = lengths[r][c];
    const bool edge = x == 0 || y == 0 || x == thin_wide - 1 || y == thin_high - 1;
    out[i] = !edge && length >= lengths[r - sy][c - sx] && length >= lengths[r + sy][c + sx] ? length : 0;
}

void thin() {
    const int n = thin_wide * thin_high;
    const auto gx = filled<float>(n, [](unsigned i) { return random_float(i) * 2 - 1; });
    const auto gy = filled<float>(n, [](unsigned i) { return random_float(~i) * 2 - 1; });
    float *dx = to_device(gx), *dy = to_device(gy), *lengths = empty_array<float>(n), *out = empty_array<float>(n);
    unsigned char* directions = empty_array<unsigned char>(n);
    const auto check = [&](std::size_t i) {
        const int x = i % thin_wide, y = i / thin_wide;
        if (x == 0 || y == 0 || x == thin_wide - 1 || y == thin_high - 1) return 0.0;
        const int steps[] = {1, thin_wide + 1, thin_wide, thin_wide - 1};
        const int step = steps[(std::lround(std::atan2(double(gy[i]), double(gx[i])) * 4 / M_PI) + 4) % 4];
        const auto length = [&](std::size_t at) { return std::hypot(double(gx[at]), double(gy[at])); };
        return length(i) >= length(i - step) && length(i) >= length(i + step) ? length(i) : 0.0;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048 x 1536", out, n, check, launch); };
    const dim3 blocks(thin_wide / 32, thin_high / 8), flat(32, 8);
    show("thin: two launches", [&] {
        thin_polar<<<n / 256, 256>>>(dx, dy, lengths, directions);
        thin_keep<<<blocks, flat>>>(lengths, directions, out);
    });
    show("thin: tile", [&] { thin_tile<<<blocks, flat>>>(dx, dy, out); });
    for (float* each : {dx, dy, lengths, out}) CHECK(cudaFree(each));
    CHECK(cudaFree(directions));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    sharpen();
    thin();
    return wrong;
}
