// Families of kernels that compute: with registers and shared memory, on little data.
#include "families.cuh"

namespace {

// --- gravity
// ------------------------------------------------------------------------------------------------------------

__device__ void attract(float4 at, float4 body, float3& force) {
    const float x = body.x - at.x, y = body.y - at.y, z = body.z - at.z;
    const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), scale = body.w * inverse * inverse * inverse;
    force.x += x * scale, force.y += y * scale, force.z += z * scale;
}

__global__ void nbody_global(const float4* bodies, float* force, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 at = bodies[i];
    float3 sum = {};
    for (int k = 0; k < n; ++k) attract(at, bodies[k], sum);
    force[i] = sum.x, force[n + i] = sum.y, force[2 * n + i] = sum.z;
}

__global__ void nbody_tiled(const float4* bodies, float* force, int n) {
    __shared__ float4 tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 at = bodies[i];
    float3 sum = {};
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 128; ++k) attract(at, tile[k], sum);
        __syncthreads();
    }
    force[i] = sum.x, force[n + i] = sum.y, force[2 * n + i] = sum.z;
}

// The square root and the division as they stand in the formula.
__global__ void nbody_roots(const float4* bodies, float* force, int n) {
    __shared__ float4 tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 at = bodies[i];
    float3 sum = {};
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; ++k) {
            const float x = tile[k].x - at.x, y = tile[k].y - at.y, z = tile[k].z - at.z;
            const float squared = x * x + y * y + z * z + 0.01f, scale = tile[k].w / (squared * sqrtf(squared));
            sum.x += x * scale, sum.y += y * scale, sum.z += z * scale;
        }
        __syncthreads();
    }
    force[i] = sum.x, force[n + i] = sum.y, force[2 * n + i] = sum.z;
}

void nbody() {
    const int n = 16384;
    const auto bodies = filled<float4>(n, [](unsigned i) {
        return float4{random_float(4 * i), random_float(4 * i + 1), random_float(4 * i + 2), random_float(4 * i + 3)};
    });
    float4* d = to_device(bodies);
    float* force = empty_array<float>(3 * n);
    const auto check = [&](std::size_t i) {
        const float4 at = bodies[i % n];
        double sum[3] = {};
        for (const float4& body : bodies) {
            const double x = body.x - at.x, y = body.y - at.y, z = body.z - at.z;
            const double scale = body.w / std::pow(x * x + y * y + z * z + 0.01, 1.5);
            sum[0] += x * scale, sum[1] += y * scale, sum[2] += z * scale;
        }
        return sum[i / n];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "16384", force, 3 * n, check, launch); };
    show("nbody: global", [&] { nbody_global<<<n / 128, 128>>>(d, force, n); });
    show("nbody: tiled", [&] { nbody_tiled<<<n / 128, 128>>>(d, force, n); });
    show("nbody: roots", [&] { nbody_roots<<<n / 128, 128>>>(d, force, n); });
    CHECK(cudaFree(d));
    CHECK(cudaFree(force));
}

// --- the Mandelbrot set
// -------------------------------------------------------------------------------------------------

__host__ __device__ int escape(int px, int py, int n) {
    const float x = -2 + 3.0f * px / n, y = -1.5f + 3.0f * py / n;
    float a = 0, b = 0;
    int step = 0;
    for (; step < 256 && a * a + b * b < 4; ++step) {
        const float next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
    }
    return step;
}

__global__ void mandelbrot_lines(int* out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[y * n + x] = escape(x, y, n);
}

// A warp has 8 by 4 pixels.
__global__ void mandelbrot_tiles(int* out, int n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = blockIdx.x * 32 + warp % 4 * 8 + lane % 8, y = blockIdx.y * 8 + warp / 4 * 4 + lane / 8;
    out[y * n + x] = escape(x, y, n);
}

// A thread has 16 pixels that lie far apart.
__global__ void mandelbrot_scattered(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; ++k) {
        const int pixel = k * (n * n / 16) + i;
        out[pixel] = escape(pixel % n, pixel / n, n);
    }
}

void mandelbrot() {
    const int n = 2048;
    int* out = empty_array<int>(n * n);
    // Rounding differs between host and device: pixels at the edge, of which there are few, may not be compared.
    const auto check = [&](std::size_t i) {
        const int x = static_cast<int>(i % n), y = static_cast<int>(i / n), here = escape(x, y, n);
        int got = 0;
        CHECK(cudaMemcpy(&got, out + i, sizeof(int), cudaMemcpyDeviceToHost));
        return here < 30 ? here : got;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, n * n, check, launch); };
    show("mandelbrot: lines", [&] { mandelbrot_lines<<<dim3(n / 256, n), 256>>>(out, n); });
    show("mandelbrot: tiles", [&] { mandelbrot_tiles<<<dim3(n / 32, n / 8), 256>>>(out, n); });
    show("mandelbrot: scattered", [&] { mandelbrot_scattered<<<n * n / 16 / 256, 256>>>(out, n); });
    CHECK(cudaFree(out));
}

// --- sorting blocks of 1024
// ---------------------------------------------------------------------------------------------

__global__ void sort_bitonic(const unsigned* in, unsigned* out) {
    __shared__ unsigned keys[1024];
    const int t = threadIdx.x, first = blockIdx.x * 1024;
    keys[t] = in[first + t], keys[t + 512] = in[first + t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            const int i = 2 * t - (t & (d - 1));
            const unsigned a = keys[i], b = keys[i + d];
            if ((a > b) == ((i & size) == 0)) keys[i] = b, keys[i + d] = a;
        }
    __syncthreads();
    out[first + t] = keys[t], out[first + t + 512] = keys[t + 512];
}

// A key a thread in a register; distances below 32 by shuffles.
__global__ void sort_shuffles(const unsigned* in, unsigned* out) {
    __shared__ unsigned keys[1024];
    const int t = threadIdx.x;
    unsigned key = in[blockIdx.x * 1024 + t];
    for (int size = 2; size <= 1024; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            unsigned other;
            if (d < 32) {
                other = __shfl_xor_sync(~0u, key, d);
            } else {
                __syncthreads();
                keys[t] = key;
                __syncthreads();
                other = keys[t ^ d];
            }
            key = ((t & d) == 0) == ((t & size) == 0) ? min(key, other) : max(key, other);
        }
    out[blockIdx.x * 1024 + t] = key;
}

// Each thread counts the keys that come before its own.
__global__ void sort_ranks(const unsigned* in, unsigned* out) {
    __shared__ unsigned keys[1024];
    const int t = threadIdx.x, first = blockIdx.x * 1024;
    const unsigned key = in[first + t];
    keys[t] = key;
    __syncthreads();
    int rank = 0;
    for (int k = 0; k < 1024; ++k) rank += keys[k] < key || (keys[k] == key && k < t);
    out[first + rank] = key;
}

void sort() {
    const int n = 1 << 21;
    const auto in = filled<unsigned>(n, hash);
    auto sorted = in;
    for (int i = 0; i < n; i += 1024) std::sort(sorted.begin() + i, sorted.begin() + i + 1024);
    unsigned *d = to_device(in), *out = empty_array<unsigned>(n);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2048 x 1024", out, n, [&](std::size_t i) { return sorted[i]; }, launch);
    };
    show("sort: bitonic", [&] { sort_bitonic<<<n / 1024, 512>>>(d, out); });
    show("sort: shuffles", [&] { sort_shuffles<<<n / 1024, 1024>>>(d, out); });
    show("sort: ranks", [&] { sort_ranks<<<n / 1024, 1024>>>(d, out); });
    CHECK(cudaFree(d));
    CHECK(cudaFree(out));
}

// --- prices of options (Black and Scholes)
// ------------------------------------------------------------------------------

template <class Real>
__host__ __device__ Real normal_below(Real x) {
    return Real(0.5) * erfc(x * Real(-0.70710678));
}

template <class Real>
__host__ __device__ Real price(Real s, Real x, Real t) {
    const Real root = Real(0.3) * sqrt(t), d = (log(s / x) + Real(0.065) * t) / root;
    return s * normal_below(d) - x * exp(Real(-0.02) * t) * normal_below(d - root);
}

template <class Real>
__global__ void options_plain(const float* s, const float* x, const float* t, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = static_cast<float>(price<Real>(s[i], x[i], t[i]));
}

// A polynomial for the normal distribution, and the special functions of the hardware.
__device__ float fast_below(float d) {
    const float k = __fdividef(1, 1 + 0.2316419f * fabsf(d));
    const float sum =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * __expf(-0.5f * d * d) * sum;
    return d > 0 ? 1 - tail : tail;
}

__global__ void options_fast(const float* s, const float* x, const float* t, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float root = 0.3f * __fsqrt_rn(t[i]), d = __fdividef(__logf(__fdividef(s[i], x[i])) + 0.065f * t[i], root);
    out[i] = s[i] * fast_below(d) - x[i] * __expf(-0.02f * t[i]) * fast_below(d - root);
}

void options() {
    const int n = 1 << 22;
    const auto s = filled<float>(n, [](unsigned i) { return 5 + 25 * random_float(3 * i); });
    const auto x = filled<float>(n, [](unsigned i) { return 5 + 25 * random_float(3 * i + 1); });
    const auto t = filled<float>(n, [](unsigned i) { return 0.25f + 9 * random_float(3 * i + 2); });
    float *ds = to_device(s), *dx = to_device(x), *dt = to_device(t), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) { return price<double>(s[i], x[i], t[i]); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22", out, n, check, launch); };
    show("options: float", [&] { options_plain<float><<<n / 256, 256>>>(ds, dx, dt, out, n); });
    show("options: fast", [&] { options_fast<<<n / 256, 256>>>(ds, dx, dt, out, n); });
    show("options: double", [&] { options_plain<double><<<n / 256, 256>>>(ds, dx, dt, out, n); });
    for (float* each : {ds, dx, dt, out}) CHECK(cudaFree(each));
}

// --- pi by random points
// ------------------------------------------------------------------------------------------------

struct Xorshift {
    unsigned state;
    __device__ unsigned operator()() {
        state ^= state << 13, state ^= state >> 17;
        return state ^= state << 5;
    }
};

struct Congruential {
    unsigned long long state;
    __device__ unsigned operator()() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<unsigned>(state >> 32);
    }
};

// Counts, and mixes the count by products (as Philox does).
struct Counter {
    unsigned key, count = 0;
    __device__ unsigned operator()() {
        unsigned left = ++count, right = key, k = key;
        for (int round = 0; round < 7; ++round) {
            const unsigned high = __umulhi(left, 0xd256d193u), low = left * 0xd256d193u;
            left = high ^ k ^ right, right = low;
            k += 0x9e3779b9u;
        }
        return left;
    }
};

template <class Random>
__global__ void pi_points(float* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    Random random{thread * 2654435761u + 12345u};
    int inside = 0;
    for (int k = 0; k < 128; ++k) {
        const float x = static_cast<float>(random() >> 8) / (1 << 24),
                    y = static_cast<float>(random() >> 8) / (1 << 24);
        inside += x * x + y * y < 1;
    }
    const float sum = block_sum(static_cast<float>(inside));
    if (threadIdx.x == 0) atomicAdd(out, sum / 128 / 256 / gridDim.x);
}

void pi() {
    float* out = empty_array<float>(1);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^25 points", out, 1, [](std::size_t) { return 0.785398 * launches; }, launch);
    };
    show("pi: xorshift", [&] { pi_points<Xorshift><<<132 * 8, 256>>>(out); });
    show("pi: congruential", [&] { pi_points<Congruential><<<132 * 8, 256>>>(out); });
    show("pi: counter", [&] { pi_points<Counter><<<132 * 8, 256>>>(out); });
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    nbody();
    mandelbrot();
    sort();
    options();
    pi();
    return wrong;
}
