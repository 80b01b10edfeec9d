// Ninth held-out set: a scaled vector, a x + y in doubles, three-dimensional vectors in several layouts.
#include "families.cuh"

namespace {

__global__ void empty() {}

// --- c = alpha a for 16 * 10^6 floats

__global__ void scale(float alpha, const float* a, float* c, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) c[i] = alpha * a[i];
}

// 32 neighbours a thread.
__global__ void scale_chunks(float alpha, const float* a, float* c, int m) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (int i = first; i < first + 32 && i < m; ++i) c[i] = alpha * a[i];
}

__global__ void scale_stride(float alpha, const float* a, float* c, int m) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += stride) c[i] = alpha * a[i];
}

void scales() {
    const int m = 16'000'000;
    const float alpha = 42;
    const auto a = filled<float>(m, random_float);
    float *da = to_device(a), *c = empty_array<float>(m);
    const auto check = [&](std::size_t i) { return alpha * a[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "16 000 000", c, m, check, launch); };
    show("scale: blocks of 32", [&] { scale<<<(m + 31) / 32, 32>>>(alpha, da, c, m); });
    show("scale: chunks", [&] { scale_chunks<<<(m + 32 * 128 - 1) / (32 * 128), 128>>>(alpha, da, c, m); });
    show("scale: grid stride", [&] { scale_stride<<<1024, 512>>>(alpha, da, c, m); });
    CHECK(cudaFree(da));
    CHECK(cudaFree(c));
}

// --- y = a x + y for 10^7 doubles

__global__ void daxpy_element(int n, double a, const double* x, double* y) {
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid < n) y[tid] += a * x[tid];
}

__global__ void daxpy_stride(int n, double a, const double* x, double* y) {
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = gridDim.x * blockDim.x;
    for (; tid < n; tid += stride) y[tid] += a * x[tid];
}

__global__ void daxpy_pairs(int n, double a, const double2* __restrict__ x, double2* __restrict__ y) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const double2 u = x[i];
    double2 v = y[i];
    v.x = fma(a, u.x, v.x);
    v.y = fma(a, u.y, v.y);
    y[i] = v;
}

void daxpy() {
    const int n = 10'000'000;
    const double a = 3;
    const auto x = filled<double>(n, random_float);
    const auto y = filled<double>(n, [](unsigned i) { return random_float(~i); });
    double *dx = to_device(x), *start = to_device(y), *out = empty_array<double>(n);
    const auto check = [&](std::size_t i) { return launches * a * x[i] + y[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "10 000 000", out, n, check, launch, start); };
    show("daxpy: thread an element", [&] { daxpy_element<<<(n + 127) / 128, 128>>>(n, a, dx, out); });
    show("daxpy: grid stride", [&] { daxpy_stride<<<512, 128>>>(n, a, dx, out); });
    show("daxpy: pairs", [&] {
        daxpy_pairs<<<(n / 2 + 255) / 256, 256>>>(n / 2, a, reinterpret_cast<double2*>(dx),
                                                  reinterpret_cast<double2*>(out));
    });
    for (double* each : {dx, start, out}) CHECK(cudaFree(each));
}

// --- 2^22 vectors of x, y and z, each divided by its length

struct Vector {
    float x, y, z;
};

struct Arrays {
    float *x, *y, *z;
};

__global__ void unit_structures(const Vector* in, Vector* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float length = sqrtf(in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z);
        out[i].x = in[i].x / length;
        out[i].y = in[i].y / length;
        out[i].z = in[i].z / length;
    }
}

__global__ void unit_arrays(const Arrays in, Arrays out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = in.x[i], y = in.y[i], z = in.z[i];
    const float length = sqrtf(x * x + y * y + z * z);
    out.x[i] = x / length;
    out.y[i] = y / length;
    out.z[i] = z / length;
}

// The fourth float is not used.
__global__ void unit_aligned(const float4* in, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 v = in[i];
    const float inverse = rsqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    out[i] = make_float4(v.x * inverse, v.y * inverse, v.z * inverse, 0);
}

// A block reads its structures as mere floats.
__global__ void unit_shared(const float* in, float* out) {
    __shared__ float v[3 * 256];
    const int t = threadIdx.x, first = blockIdx.x * 3 * 256;
    for (int k = t; k < 3 * 256; k += 256) v[k] = in[first + k];
    __syncthreads();
    const float x = v[3 * t], y = v[3 * t + 1], z = v[3 * t + 2];
    const float inverse = rsqrtf(x * x + y * y + z * z);
    v[3 * t] = x * inverse;
    v[3 * t + 1] = y * inverse;
    v[3 * t + 2] = z * inverse;
    __syncthreads();
    for (int k = t; k < 3 * 256; k += 256) out[first + k] = v[k];
}

void structures() {
    const int n = 1 << 22;
    const auto part = [](unsigned i, unsigned c) { return 20 * random_float(3 * i + c) - 9; };
    const auto in = filled<float>(3 * n, [&](unsigned k) { return part(k / 3, k % 3); });
    const auto split = filled<float>(3 * n, [&](unsigned k) { return part(k % n, k / n); });
    const auto padded = filled<float>(4 * n, [&](unsigned k) { return k % 4 < 3 ? part(k / 4, k % 4) : 0; });
    float *din = to_device(in), *ds = to_device(split), *dp = to_device(padded), *out = empty_array<float>(4 * n);
    const auto unit = [&](std::size_t i, std::size_t c) {
        return in[3 * i + c] / std::hypot(double(in[3 * i]), double(in[3 * i + 1]), double(in[3 * i + 2]));
    };
    const auto check = [&](std::size_t k) { return unit(k / 3, k % 3); };
    measure("structures: array of structures", "2^22 x 3", out, 3 * n, check, [&] {
        unit_structures<<<n / 128, 128>>>(reinterpret_cast<Vector*>(din), reinterpret_cast<Vector*>(out), n);
    });
    measure(
        "structures: structure of arrays", "2^22 x 3", out, 3 * n, [&](std::size_t k) { return unit(k % n, k / n); },
        [&] {
            const Arrays from = {ds, ds + n, ds + 2 * n}, to = {out, out + n, out + 2 * n};
            unit_arrays<<<n / 128, 128>>>(from, to, n);
        });
    measure(
        "structures: aligned", "2^22 x 4", out, 4 * n,
        [&](std::size_t k) { return k % 4 < 3 ? unit(k / 4, k % 4) : 0; },
        [&] { unit_aligned<<<n / 256, 256>>>(reinterpret_cast<float4*>(dp), reinterpret_cast<float4*>(out), n); });
    measure("structures: shared", "2^22 x 3", out, 3 * n, check, [&] { unit_shared<<<n / 256, 256>>>(din, out); });
    for (float* each : {din, ds, dp, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    scales();
    daxpy();
    structures();
    return wrong;
}
