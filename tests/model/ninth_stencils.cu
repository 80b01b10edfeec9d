// Ninth held-out set: a sweep of a seven-point stencil, upwind advection, nonlinear diffusion of a colour image.
#include "families.cuh"

namespace {

// --- one sweep of a seven-point stencil over 192^3 points; nothing is written on the faces

constexpr float c0 = 0.4f, c1 = 0.05f, c2 = 0.15f, c3 = 0.07f, c4 = 0.13f, c5 = 0.09f, c6 = 0.11f;

__global__ void sweep_basic(const float* in, float* out, unsigned n) {
    const unsigned i = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned j = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1 && k >= 1 && k < n - 1)
        out[i * n * n + j * n + k] = c0 * in[i * n * n + j * n + k] + c1 * in[i * n * n + j * n + (k - 1)] +
                                     c2 * in[i * n * n + j * n + (k + 1)] + c3 * in[i * n * n + (j - 1) * n + k] +
                                     c4 * in[i * n * n + (j + 1) * n + k] + c5 * in[(i - 1) * n * n + j * n + k] +
                                     c6 * in[(i + 1) * n * n + j * n + k];
}

// 8^3 points are read and 6^3 written a block.
__global__ void sweep_tiled(const float* in, float* out, int n) {
    __shared__ float tile[8][8][8];
    const int i = blockIdx.z * 6 + threadIdx.z - 1;
    const int j = blockIdx.y * 6 + threadIdx.y - 1;
    const int k = blockIdx.x * 6 + threadIdx.x - 1;
    const int z = threadIdx.z, y = threadIdx.y, x = threadIdx.x;
    if (i >= 0 && i < n && j >= 0 && j < n && k >= 0 && k < n) tile[z][y][x] = in[i * n * n + j * n + k];
    __syncthreads();
    if (i < 1 || i >= n - 1 || j < 1 || j >= n - 1 || k < 1 || k >= n - 1) return;
    if (z >= 1 && z < 7 && y >= 1 && y < 7 && x >= 1 && x < 7)
        out[i * n * n + j * n + k] = c0 * tile[z][y][x] + c1 * tile[z][y][x - 1] + c2 * tile[z][y][x + 1] +
                                     c3 * tile[z][y - 1][x] + c4 * tile[z][y + 1][x] + c5 * tile[z - 1][y][x] +
                                     c6 * tile[z + 1][y][x];
}

// Coarsened along z: the planes before and behind are in registers.
__global__ void sweep_registers(const float* in, float* out, int n) {
    __shared__ float plane[32][32];
    const int first = blockIdx.z * 30, y = threadIdx.y, x = threadIdx.x;
    const int j = blockIdx.y * 30 + y - 1, k = blockIdx.x * 30 + x - 1;
    const bool inside = j >= 0 && j < n && k >= 0 && k < n;
    float before = 0, here = 0, behind = 0;
    if (first >= 1 && inside) before = in[(first - 1) * n * n + j * n + k];
    if (inside) here = in[first * n * n + j * n + k];
    plane[y][x] = here;
    for (int i = first; i < first + 30; ++i) {
        if (i + 1 < n && inside) behind = in[(i + 1) * n * n + j * n + k];
        __syncthreads();
        if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1 && k >= 1 && k < n - 1)
            if (y >= 1 && y < 31 && x >= 1 && x < 31)
                out[i * n * n + j * n + k] = c0 * here + c1 * plane[y][x - 1] + c2 * plane[y][x + 1] +
                                             c3 * plane[y - 1][x] + c4 * plane[y + 1][x] + c5 * before + c6 * behind;
        __syncthreads();
        before = here;
        here = behind;
        plane[y][x] = behind;
    }
}

void sweep() {
    const int n = 192, count = n * n * n;
    const auto in = filled<float>(count, [](unsigned i) { return 4 * random_float(i); });
    float *din = to_device(in), *out = empty_array<float>(count);
    const auto check = [&](std::size_t at) {
        const int i = at / (n * n), j = at / n % n, k = at % n;
        if (i < 1 || i >= n - 1 || j < 1 || j >= n - 1 || k < 1 || k >= n - 1) return 0.0f;
        return c0 * in[at] + c1 * in[at - 1] + c2 * in[at + 1] + c3 * in[at - n] + c4 * in[at + n] +
               c5 * in[at - n * n] + c6 * in[at + n * n];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "192^3", out, count, check, launch); };
    show("sweep: basic", [&] { sweep_basic<<<dim3(n / 8, n / 8, n / 8), dim3(8, 8, 8)>>>(din, out, n); });
    show("sweep: tiled", [&] { sweep_tiled<<<dim3(n / 6, n / 6, n / 6), dim3(8, 8, 8)>>>(din, out, n); });
    const int blocks = (n + 29) / 30;
    show("sweep: registers", [&] { sweep_registers<<<dim3(blocks, blocks, blocks), dim3(32, 32)>>>(din, out, n); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- two upwind steps of advection on a torus of 2048 x 2048 cells; the velocity turns about the middle

__global__ void advect_modulo(const float* u, float* out, int n, float dt) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float vx = 1.0 * (n / 2 - y) / n;
    float vy = 1.0 * (x - n / 2) / n;
    float here = u[y * n + x];
    float dx, dy;
    if (vx > 0)
        dx = here - u[y * n + (x - 1 + n) % n];
    else
        dx = u[y * n + (x + 1) % n] - here;
    if (vy > 0)
        dy = here - u[(y - 1 + n) % n * n + x];
    else
        dy = u[(y + 1) % n * n + x] - here;
    out[y * n + x] = here - dt * (vx * dx + vy * dy);
}

__device__ inline float upwind(float here, float left, float right, float up, float down, int x, int y, int n,
                               float dt) {
    const float vx = static_cast<float>(n / 2 - y) / n, vy = static_cast<float>(x - n / 2) / n;
    const float dx = vx > 0 ? here - left : right - here, dy = vy > 0 ? here - up : down - here;
    return here - dt * (vx * dx + vy * dy);
}

__global__ void advect_tiles(const float* u, float* out, int n, float dt) {
    __shared__ float tile[10][34];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    tile[ty][tx] = u[y * n + x];
    if (tx == 1) tile[ty][0] = u[y * n + (x > 0 ? x - 1 : n - 1)];
    if (tx == 32) tile[ty][33] = u[y * n + (x < n - 1 ? x + 1 : 0)];
    if (ty == 1) tile[0][tx] = u[(y > 0 ? y - 1 : n - 1) * n + x];
    if (ty == 8) tile[9][tx] = u[(y < n - 1 ? y + 1 : 0) * n + x];
    __syncthreads();
    out[y * n + x] =
        upwind(tile[ty][tx], tile[ty][tx - 1], tile[ty][tx + 1], tile[ty - 1][tx], tile[ty + 1][tx], x, y, n, dt);
}

// A thread goes down 32 rows.
__global__ void advect_strips(const float* __restrict__ u, float* __restrict__ out, int n, float dt) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 32;
    const int left = (x - 1) & (n - 1), right = (x + 1) & (n - 1);
    float up = u[((first - 1) & (n - 1)) * n + x], here = u[first * n + x];
#pragma unroll 4
    for (int y = first; y < first + 32; ++y) {
        const float down = u[((y + 1) & (n - 1)) * n + x];
        out[y * n + x] = upwind(here, u[y * n + left], u[y * n + right], up, down, x, y, n, dt);
        up = here;
        here = down;
    }
}

void advection() {
    const int n = 2048, count = n * n;
    const float dt = 0.8f;
    const auto in = filled<float>(count, [](unsigned i) { return 10 * random_float(i); });
    float *din = to_device(in), *half = empty_array<float>(count), *out = empty_array<float>(count);
    const auto step = [&](const std::vector<float>& u, int at) {
        const int x = at % n, y = at / n;
        const float here = u[at], vx = static_cast<float>(n / 2 - y) / n, vy = static_cast<float>(x - n / 2) / n;
        const float dx = vx > 0 ? here - u[y * n + (x + n - 1) % n] : u[y * n + (x + 1) % n] - here;
        const float dy = vy > 0 ? here - u[(y + n - 1) % n * n + x] : u[(y + 1) % n * n + x] - here;
        return here - dt * (vx * dx + vy * dy);
    };
    const auto once = filled<float>(count, [&](unsigned i) { return step(in, i); });
    const auto check = [&](std::size_t i) { return step(once, i); };
    const auto show = [&](const char* what, auto one) {
        measure(what, "2048 x 2048, 2 steps", out, count, check, [&] {
            one(din, half);
            one(half, out);
        });
    };
    show("advection: modulo",
         [&](const float* from, float* to) { advect_modulo<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(from, to, n, dt); });
    show("advection: tiles",
         [&](const float* from, float* to) { advect_tiles<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(from, to, n, dt); });
    show("advection: strips",
         [&](const float* from, float* to) { advect_strips<<<dim3(n / 128, n / 32), 128>>>(from, to, n, dt); });
    for (float* each : {din, half, out}) CHECK(cudaFree(each));
}

// --- one step of nonlinear diffusion of three planes of 1536 x 1024: all have the same diffusivity

constexpr int width = 1536, height = 1024, plane_size = width * height;
constexpr float least = 0.01f, tau = 0.1f;

__global__ void gradient(const float* u, float* dx, float* dy) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int c = 0; c < 3; ++c) {
        const int at = c * plane_size + y * width + x;
        dx[at] = x + 1 < width ? u[at + 1] - u[at] : 0;
        dy[at] = y + 1 < height ? u[at + width] - u[at] : 0;
    }
}

__global__ void diffusivity(float* dx, float* dy) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float squares = 0;
    for (int c = 0; c < 3; ++c) {
        const int at = c * plane_size + y * width + x;
        squares += dx[at] * dx[at] + dy[at] * dy[at];
    }
    const float g = 1.0f / max(least, sqrtf(squares));
    for (int c = 0; c < 3; ++c) {
        const int at = c * plane_size + y * width + x;
        dx[at] *= g;
        dy[at] *= g;
    }
}

__global__ void divergence(const float* dx, const float* dy, float* div) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int c = 0; c < 3; ++c) {
        const int at = c * plane_size + y * width + x;
        div[at] = dx[at] - (x > 0 ? dx[at - 1] : 0) + dy[at] - (y > 0 ? dy[at - width] : 0);
    }
}

__global__ void add_step(const float* u, const float* div, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = u[i] + tau * div[i];
}

// The diffusivity: one over the length of all differences to the right and below.
__device__ inline float diffusivity_at(const float* u, int x, int y) {
    float squares = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const int at = c * plane_size + y * width + x;
        const float dx = x + 1 < width ? u[at + 1] - u[at] : 0, dy = y + 1 < height ? u[at + width] - u[at] : 0;
        squares += dx * dx + dy * dy;
    }
    return 1.0f / fmaxf(least, sqrtf(squares));
}

__global__ void diffuse_fused(const float* __restrict__ u, float* __restrict__ out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float here = diffusivity_at(u, x, y);
    const float left = x > 0 ? diffusivity_at(u, x - 1, y) : 0, up = y > 0 ? diffusivity_at(u, x, y - 1) : 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const int at = c * plane_size + y * width + x;
        float div = 0;
        if (x + 1 < width) div += here * (u[at + 1] - u[at]);
        if (y + 1 < height) div += here * (u[at + width] - u[at]);
        if (x > 0) div -= left * (u[at] - u[at - 1]);
        if (y > 0) div -= up * (u[at] - u[at - width]);
        out[at] = u[at] + tau * div;
    }
}

// Beyond the borders the tiles repeat what is on them.
__global__ void diffuse_tiles(const float* __restrict__ u, float* __restrict__ out) {
    __shared__ float tile[3][10][34], g[9][33];
    const int t = threadIdx.y * 32 + threadIdx.x, left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int k = t; k < 340; k += 256) {
        const int x = min(max(left + k % 34, 0), width - 1), y = min(max(top + k / 34, 0), height - 1);
        for (int c = 0; c < 3; ++c) tile[c][k / 34][k % 34] = u[c * plane_size + y * width + x];
    }
    __syncthreads();
    for (int k = t; k < 297; k += 256) {
        const int x = k % 33, y = k / 33;
        float squares = 0;
        for (int c = 0; c < 3; ++c) {
            const float dx = tile[c][y][x + 1] - tile[c][y][x], dy = tile[c][y + 1][x] - tile[c][y][x];
            squares += dx * dx + dy * dy;
        }
        g[y][x] = 1.0f / fmaxf(least, sqrtf(squares));
    }
    __syncthreads();
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    for (int c = 0; c < 3; ++c) {
        const float here = tile[c][y][x];
        const float div = g[y][x] * (tile[c][y][x + 1] + tile[c][y + 1][x] - 2 * here) -
                          g[y][x - 1] * (here - tile[c][y][x - 1]) - g[y - 1][x] * (here - tile[c][y - 1][x]);
        out[c * plane_size + (top + y) * width + left + x] = here + tau * div;
    }
}

void anisotropic() {
    const int n = 3 * plane_size;
    const auto in = filled<float>(n, random_float);
    float *din = to_device(in), *dx = empty_array<float>(n), *dy = empty_array<float>(n);
    float *div = empty_array<float>(n), *out = empty_array<float>(n);
    const auto slope = [&](int c, int x, int y, bool down) {
        if (x < 0 || y < 0 || (down ? y + 1 >= height : x + 1 >= width)) return 0.0;
        const int at = c * plane_size + y * width + x;
        return double(in[at + (down ? width : 1)]) - in[at];
    };
    const auto flux = [&](int c, int x, int y, bool down) {
        double squares = 0;
        if (x < 0 || y < 0) return 0.0;
        for (int k = 0; k < 3; ++k) squares += std::pow(slope(k, x, y, false), 2) + std::pow(slope(k, x, y, true), 2);
        return slope(c, x, y, down) / std::fmax(least, std::sqrt(squares));
    };
    const auto check = [&](std::size_t i) {
        const int c = i / plane_size, y = i / width % height, x = i % width;
        return in[i] +
               tau * (flux(c, x, y, false) - flux(c, x - 1, y, false) + flux(c, x, y, true) - flux(c, x, y - 1, true));
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "3 x 1536 x 1024", out, n, check, launch); };
    const dim3 blocks(width / 32, height / 8), threads(32, 8);
    show("anisotropic: four kernels", [&] {
        gradient<<<blocks, threads>>>(din, dx, dy);
        diffusivity<<<blocks, threads>>>(dx, dy);
        divergence<<<blocks, threads>>>(dx, dy, div);
        add_step<<<n / 256, 256>>>(din, div, out);
    });
    show("anisotropic: fused", [&] { diffuse_fused<<<blocks, threads>>>(din, out); });
    show("anisotropic: tiles", [&] { diffuse_tiles<<<blocks, threads>>>(din, out); });
    for (float* each : {din, dx, dy, div, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    sweep();
    advection();
    anisotropic();
    return wrong;
}
