// Families of kernels that move data: element by element, from neighbours, from anywhere.
#include "families.cuh"

namespace {

__global__ void empty() {}

// --- y += a x
// ---------------------------------------------------------------------------------------------------------

__global__ void saxpy_element(float a, const float* x, const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}

__global__ void saxpy_grid_stride(float a, const float* x, const float* y, float* out, int n) {
    FOR_GRID(i, n) out[i] = a * x[i] + y[i];
}

__global__ void saxpy_float4(float a, const float4* x, const float4* y, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const float4 u = x[i], v = y[i];
    out[i] = {a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w};
}

// Eight neighbours a thread, one after the other.
__global__ void saxpy_chunks(float a, const float* x, const float* y, float* out, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int i = first; i < first + 8 && i < n; ++i) out[i] = a * x[i] + y[i];
}

void saxpy() {
    const int n = 1 << 24;
    const auto x = filled<float>(n, random_float), y = filled<float>(n, [](unsigned i) { return random_float(~i); });
    float *dx = to_device(x), *dy = to_device(y), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) { return 3 * x[i] + y[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^24", out, n, check, launch); };
    show("saxpy: element", [&] { saxpy_element<<<n / 256, 256>>>(3, dx, dy, out, n); });
    show("saxpy: grid stride", [&] { saxpy_grid_stride<<<132 * 8, 256>>>(3, dx, dy, out, n); });
    show("saxpy: float4",
         [&] { saxpy_float4<<<n / 1024, 256>>>(3, (const float4*)dx, (const float4*)dy, (float4*)out, n); });
    show("saxpy: chunks", [&] { saxpy_chunks<<<n / 2048, 256>>>(3, dx, dy, out, n); });
    for (float* each : {dx, dy, out}) CHECK(cudaFree(each));
}

// --- one step of Jacobi's iteration in two dimensions
// -------------------------------------------------------------------

__global__ void jacobi_global(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

__global__ void jacobi_shared(const float* in, float* out, int n) {
    __shared__ float tile[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = in[y * n + x];
    if (tx == 1 && x > 0) tile[ty][0] = in[y * n + x - 1];
    if (tx == 32 && x < n - 1) tile[ty][33] = in[y * n + x + 1];
    if (ty == 1 && y > 0) tile[0][tx] = in[(y - 1) * n + x];
    if (ty == 8 && y < n - 1) tile[9][tx] = in[(y + 1) * n + x];
    __syncthreads();
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    out[y * n + x] = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

// A thread goes down 32 rows.
__global__ void jacobi_columns(const float* in, float* out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 32;
    if (x == 0 || x == n - 1) return;
    float above = first > 0 ? in[(first - 1) * n + x] : 0, here = in[first * n + x];
    for (int y = first; y < first + 32 && y < n - 1; ++y) {
        const float below = in[(y + 1) * n + x];
        if (y > 0) out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + above + below);
        above = here, here = below;
    }
}

void jacobi() {
    const int n = 4096;
    const auto in = filled<float>(n * n, random_float);
    float *din = to_device(in), *out = empty_array<float>(n * n);
    const auto check = [&](std::size_t i) {
        const std::size_t x = i % n, y = i / n;
        if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return 0.0f;
        return 0.25f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096^2", out, n * n, check, launch); };
    show("jacobi: global", [&] { jacobi_global<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(din, out, n); });
    show("jacobi: shared", [&] { jacobi_shared<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(din, out, n); });
    show("jacobi: columns", [&] { jacobi_columns<<<dim3(n / 128, n / 32), 128>>>(din, out, n); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- seven points in three dimensions
// -----------------------------------------------------------------------------------

__global__ void stencil3d_global(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z,
              i = (z * n + y) * n + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

// Up a column of 64, the points below and above in registers.
__global__ void stencil3d_registers(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, first = blockIdx.z * 64;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    int i = (first * n + y) * n + x;
    float below = first > 0 ? in[i - n * n] : 0, here = in[i];
    for (int z = first; z < first + 64 && z < n - 1; ++z, i += n * n) {
        const float above = in[i + n * n];
        if (z > 0) out[i] = here + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + below + above);
        below = here, here = above;
    }
}

// As in registers, neighbours in the plane by shared memory.
__global__ void stencil3d_planes(const float* in, float* out, int n) {
    __shared__ float plane[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, first = blockIdx.z * 64;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool inner = x > 0 && y > 0 && x < n - 1 && y < n - 1;
    int i = (first * n + y) * n + x;
    float below = first > 0 ? in[i - n * n] : 0, here = in[i];
    for (int z = first; z < first + 64 && z < n - 1; ++z, i += n * n) {
        const float above = in[i + n * n];
        plane[ty][tx] = here;
        if (tx == 1 && x > 0) plane[ty][0] = in[i - 1];
        if (tx == 32 && x < n - 1) plane[ty][33] = in[i + 1];
        if (ty == 1 && y > 0) plane[0][tx] = in[i - n];
        if (ty == 8 && y < n - 1) plane[9][tx] = in[i + n];
        __syncthreads();
        if (inner && z > 0)
            out[i] = here + 0.1f * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] +
                                    below + above);
        __syncthreads();
        below = here, here = above;
    }
}

void stencil3d() {
    const int n = 256, count = n * n * n;
    const auto in = filled<float>(count, random_float);
    float *din = to_device(in), *out = empty_array<float>(count);
    const auto check = [&](std::size_t i) {
        const std::size_t x = i % n, y = i / n % n, z = i / n / n;
        if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return 0.0f;
        return in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "256^3", out, count, check, launch); };
    const dim3 block(32, 8);
    show("stencil3d: global", [&] { stencil3d_global<<<dim3(n / 32, n / 8, n), block>>>(din, out, n); });
    show("stencil3d: registers", [&] { stencil3d_registers<<<dim3(n / 32, n / 8, n / 64), block>>>(din, out, n); });
    show("stencil3d: planes", [&] { stencil3d_planes<<<dim3(n / 32, n / 8, n / 64), block>>>(din, out, n); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- particles: an array of structs, a struct of arrays
// -----------------------------------------------------------------

struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};

__global__ void particles_structs(Particle* p, float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += 0.5f * p[i].vx, p[i].y += 0.5f * p[i].vy, p[i].z += 0.5f * p[i].vz;
    x[i] = p[i].x;
}

__global__ void particles_arrays(float* p, float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int d = 0; d < 3; ++d) p[d * n + i] += 0.5f * p[(d + 3) * n + i];
    x[i] = p[i];
}

// Structs of 32 values of each kind.
__global__ void particles_groups(float* p, float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, first = i / 32 * 256 + i % 32;
    if (i >= n) return;
    for (int d = 0; d < 3; ++d) p[first + d * 32] += 0.5f * p[first + (d + 3) * 32];
    x[i] = p[first];
}

void particles() {
    const int n = 1 << 22;
    // All values are 1, so that one array serves all three layouts.
    float *p = to_device(std::vector<float>(n * 8, 1)), *out = empty_array<float>(n);
    const auto show = [&](const char* what, auto launch) {
        if (std::strstr(what, selected) == nullptr) return;
        const std::vector<float> ones(n * 8, 1);
        CHECK(cudaMemcpy(p, ones.data(), n * 32ull, cudaMemcpyHostToDevice));
        measure(
            what, "2^22", out, n, [](std::size_t) { return 1 + 0.5 * launches; }, launch);
    };
    show("particles: structs", [&] { particles_structs<<<n / 256, 256>>>((Particle*)p, out, n); });
    show("particles: arrays", [&] { particles_arrays<<<n / 256, 256>>>(p, out, n); });
    show("particles: groups", [&] { particles_groups<<<n / 256, 256>>>(p, out, n); });
    CHECK(cudaFree(p));
    CHECK(cudaFree(out));
}

// --- permutations
// -------------------------------------------------------------------------------------------------------

__global__ void permute_gather(const float* in, const int* index, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

__global__ void permute_scatter(const float* in, const int* index, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = in[i];
}

// Rows of 32 elements stay whole.
__global__ void permute_rows(const float* in, const int* index, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i / 32] % (n / 32) * 32 + i % 32];
}

void permute() {
    const int bits = 23, n = 1 << bits;
    const auto in = filled<float>(n, random_float);
    // Each step can be undone within `bits` bits: all together are a permutation.
    const auto index = filled<int>(n, [](unsigned i) {
        for (int round = 0; round < 3; ++round) i = (i ^ i >> 12) * 0x2c1b3c6du & ((1u << 23) - 1);
        return i;
    });
    std::vector<float> scattered(n);
    for (int i = 0; i < n; ++i) scattered[index[i]] = in[i];
    float *din = to_device(in), *out = empty_array<float>(n);
    int* dindex = to_device(index);
    measure(
        "permute: gather", "2^23", out, n, [&](std::size_t i) { return in[index[i]]; },
        [&] { permute_gather<<<n / 256, 256>>>(din, dindex, out, n); });
    measure(
        "permute: scatter", "2^23", out, n, [&](std::size_t i) { return scattered[i]; },
        [&] { permute_scatter<<<n / 256, 256>>>(din, dindex, out, n); });
    measure(
        "permute: rows", "2^23", out, n, [&](std::size_t i) { return in[index[i / 32] % (n / 32) * 32 + i % 32]; },
        [&] { permute_rows<<<n / 256, 256>>>(din, dindex, out, n); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
    CHECK(cudaFree(dindex));
}

// --- the Game of Life on a torus
// ----------------------------------------------------------------------------------------

__host__ __device__ constexpr int lives(int here, int neighbours) {
    return neighbours == 3 || (here && neighbours == 2);
}

__global__ void life_bytes(const unsigned char* in, unsigned char* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, m = n - 1;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += in[((y + dy) & m) * n + ((x + dx) & m)];
    const int here = in[y * n + x];
    out[y * n + x] = lives(here, sum - here);
}

__global__ void life_shared(const unsigned char* in, unsigned char* out, int n) {
    __shared__ unsigned char tile[10][34];
    const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1, m = n - 1, x = threadIdx.x, y = threadIdx.y;
    for (int i = y * 32 + x; i < 340; i += 256)
        tile[i / 34][i % 34] = in[((y0 + i / 34) & m) * n + ((x0 + i % 34) & m)];
    __syncthreads();
    int sum = 0;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) sum += tile[y + dy][x + dx];
    const int here = tile[y + 1][x + 1];
    out[(y0 + 1 + y) * n + x0 + 1 + x] = lives(here, sum - here);
}

// A word is 32 cells; bits are added in columns.
__global__ void life_bits(const unsigned* in, unsigned* out, int n) {
    const int words = n / 32, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    unsigned ones = 0, twos = 0, fours = 0, here = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        const unsigned* row = in + ((y + dy) & (n - 1)) * words;
        const unsigned word = row[x], left = row[(x + words - 1) % words], right = row[(x + 1) % words];
        const unsigned add[] = {word << 1 | left >> 31, word >> 1 | right << 31, word};
        for (int k = 0; k < (dy == 0 ? 2 : 3); ++k) {
            const unsigned carry = ones & add[k];
            ones ^= add[k];
            fours |= twos & carry;
            twos ^= carry;
        }
        if (dy == 0) here = word;
    }
    out[y * words + x] = ~fours & twos & (ones | here);
}

void life() {
    const int n = 8192, words = n / 32, m = n - 1;
    const auto cells = filled<unsigned char>(n * n, [](unsigned i) { return hash(i) % 3 == 0; });
    const auto next = [&](int x, int y) {
        int sum = -cells[y * n + x];
        for (int k = 0; k < 9; ++k) sum += cells[((y + k / 3 - 1) & m) * n + ((x + k % 3 - 1) & m)];
        return lives(cells[y * n + x], sum);
    };
    unsigned char *in = to_device(cells), *out = empty_array<unsigned char>(n * n);
    const auto check = [&](std::size_t i) { return next(i % n, i / n); };
    const dim3 block(32, 8);
    measure("life: bytes", "8192^2", out, n * n, check,
            [&] { life_bytes<<<dim3(n / 32, n / 8), block>>>(in, out, n); });
    measure("life: shared", "8192^2", out, n * n, check,
            [&] { life_shared<<<dim3(n / 32, n / 8), block>>>(in, out, n); });
    std::vector<unsigned> packed(n * words);
    for (int i = 0; i < n * n; ++i) packed[i / 32] |= static_cast<unsigned>(cells[i]) << i % 32;
    unsigned *bits = to_device(packed), *bits_out = empty_array<unsigned>(n * words);
    const auto check_word = [&](std::size_t i) {
        unsigned word = 0;
        for (int b = 0; b < 32; ++b) word |= static_cast<unsigned>(next(i % words * 32 + b, i / words)) << b;
        return word;
    };
    measure("life: bits", "8192^2", bits_out, n * words, check_word,
            [&] { life_bits<<<dim3(words / 32, n / 8), block>>>(bits, bits_out, n); });
    for (void* each : {(void*)in, (void*)out, (void*)bits, (void*)bits_out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "one block", kernel_ms([] { empty<<<1, 32>>>(); }));
    saxpy();
    jacobi();
    stencil3d();
    particles();
    permute();
    life();
    return wrong;
}
