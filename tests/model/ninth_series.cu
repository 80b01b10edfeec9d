// Ninth held-out set: roots by Newton's iterations, Sobol's numbers, voxels of an MRI reconstruction.
#include "families.cuh"

namespace {

// --- square roots of 2^22 floats between 0 and 3: Newton's iterations for 1 / sqrt(x) start from 1

constexpr float threshold = 1e-5f;

__global__ void roots_double(const float* values, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = values[i];
        float guess = 1.0;
        double error = fabs(guess * guess * x - 1.0);
        while (error > 0.00001) {
            guess = (3.0 * guess - x * guess * guess * guess) * 0.5;
            error = fabs(guess * guess * x - 1.0);
        }
        out[i] = x * guess;
    }
}

__global__ void roots_float(const float* values, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = values[i];
    float guess = 1, error = fabsf(guess * guess * x - 1);
    while (error > threshold) {
        guess = (3 * guess - x * guess * guess * guess) * 0.5f;
        error = fabsf(guess * guess * x - 1);
    }
    out[i] = x * guess;
}

// The first guess is made of the bits of x, and three iterations always suffice.
__global__ void roots_bits(const float* values, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = values[i];
    float guess = __int_as_float(0x5f3759df - (__float_as_int(x) >> 1));
#pragma unroll
    for (int k = 0; k < 3; ++k) guess *= 1.5f - 0.5f * x * guess * guess;
    out[i] = x * guess;
}

void roots() {
    const int n = 1 << 22;
    const auto mixed = filled<float>(n, [](unsigned i) { return 0.001f + 2.998f * random_float(i); });
    const auto rare = filled<float>(n, [](unsigned i) { return i % 32 == 0 ? 2.999f : 1.0f; });
    float *dm = to_device(mixed), *dr = to_device(rare), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) { return std::sqrt(mixed[i]); };
    measure("roots: double", "2^22", out, n, check, [&] { roots_double<<<n / 256, 256>>>(dm, out, n); });
    measure("roots: float", "2^22", out, n, check, [&] { roots_float<<<n / 256, 256>>>(dm, out, n); });
    measure(
        "roots: one hard in 32", "2^22", out, n, [&](std::size_t i) { return std::sqrt(rare[i]); },
        [&] { roots_float<<<n / 256, 256>>>(dr, out, n); });
    measure("roots: bits", "2^22", out, n, check, [&] { roots_bits<<<n / 256, 256>>>(dm, out, n); });
    for (float* each : {dm, dr, out}) CHECK(cudaFree(each));
}

// --- the first 2^19 of Sobol's points in 8 dimensions, one dimension after the other

constexpr int dimensions = 8, points = 1 << 19;
constexpr float scale = 1.0f / 4294967296.0f;
__constant__ unsigned directions[dimensions * 32];

__global__ void sobol_bits(const unsigned* v, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int dimension = i / points;
    unsigned index = i % points;
    unsigned gray = index ^ (index >> 1);
    unsigned x = 0;
    for (int k = 0; k < 32; k++)
        if (gray >> k & 1) x ^= v[dimension * 32 + k];
    out[i] = x * scale;
}

// A thread has all coordinates of a point.
__global__ void sobol_constant(float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x[dimensions] = {};
    int k = 0;
    for (unsigned gray = i ^ i >> 1; gray != 0; gray >>= 1, ++k) {
        const unsigned mask = -(gray & 1);
#pragma unroll
        for (int d = 0; d < dimensions; ++d) x[d] ^= mask & directions[d * 32 + k];
    }
#pragma unroll
    for (int d = 0; d < dimensions; ++d) out[d * points + i] = x[d] * scale;
}

// A thread goes from a point to the one `stride` further on, whose index differs in two bits of its Gray code.
__global__ void sobol_strides(const unsigned* from, float* out) {
    __shared__ unsigned v[32];
    if (threadIdx.x < 32) v[threadIdx.x] = from[blockIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out += blockIdx.y * points;
    const int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x, bits = __ffs(stride) - 1;
    unsigned gray = first ^ first >> 1, x = 0;
    for (int k = 0; k < bits; ++k, gray >>= 1) x ^= -(gray & 1) & v[k];
    out[first] = x * scale;
    const unsigned always = v[bits - 1];
    for (int i = first + stride; i < points; i += stride) {
        x ^= always ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        out[i] = x * scale;
    }
}

void sobol() {
    // Degrees, coefficients and first numbers of primitive polynomials (Joe and Kuo).
    const unsigned polynomials[dimensions - 1][7] = {
        {1, 0, 1},          {2, 1, 1, 3},        {3, 1, 1, 3, 1},       {3, 2, 1, 1, 1},
        {4, 1, 1, 1, 3, 3}, {4, 4, 1, 3, 5, 13}, {5, 2, 1, 1, 5, 5, 17}};
    std::vector<unsigned> v(dimensions * 32);
    for (int k = 0; k < 32; ++k) v[k] = 1u << (31 - k);
    for (int d = 1; d < dimensions; ++d) {
        const unsigned* p = polynomials[d - 1];
        unsigned* own = &v[d * 32];
        const int degree = p[0];
        for (int k = 0; k < 32; ++k) {
            if (k < degree) {
                own[k] = p[2 + k] << (31 - k);
                continue;
            }
            own[k] = own[k - degree] ^ own[k - degree] >> degree;
            for (int j = 1; j < degree; ++j)
                if (p[1] >> (degree - 1 - j) & 1) own[k] ^= own[k - j];
        }
    }
    CHECK(cudaMemcpyToSymbol(directions, v.data(), v.size() * sizeof(unsigned)));
    unsigned* dv = to_device(v);
    const int n = dimensions * points;
    float* out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        const unsigned index = i % points, gray = index ^ index >> 1;
        unsigned x = 0;
        for (int k = 0; k < 32; ++k)
            if (gray >> k & 1) x ^= v[i / points * 32 + k];
        return x / 4294967296.0;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^19 x 8", out, n, check, launch); };
    show("sobol: bits", [&] { sobol_bits<<<n / 256, 256>>>(dv, out); });
    show("sobol: constant", [&] { sobol_constant<<<points / 128, 128>>>(out); });
    show("sobol: strides", [&] { sobol_strides<<<dim3(128, dimensions), 64>>>(dv, out); });
    CHECK(cudaFree(dv));
    CHECK(cudaFree(out));
}

// --- F^H D of 32^3 voxels and 256 samples: sums of each sample's value turned by 2 pi times k . x

constexpr int voxels = 32 * 32 * 32, samples = 256;
constexpr float two_pi = 6.2831853f;

struct Sample {
    float kx, ky, kz, real, imag;
};

__constant__ Sample in_constant[samples];

// The real parts of the result come first, then the imaginary ones.
__global__ void mri_global(const Sample* s, const float* x, const float* y, const float* z, float* out) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    out[n] = 0;
    out[voxels + n] = 0;
    for (int m = 0; m < samples; m++) {
        float angle = 2 * 3.1415927f * (s[m].kx * x[n] + s[m].ky * y[n] + s[m].kz * z[n]);
        float c = cosf(angle);
        float sine = sinf(angle);
        out[n] += s[m].real * c - s[m].imag * sine;
        out[voxels + n] += s[m].imag * c + s[m].real * sine;
    }
}

__global__ void mri_registers(const Sample* s, const float* x, const float* y, const float* z, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const float px = x[n], py = y[n], pz = z[n];
    float real = 0, imag = 0;
    for (int m = 0; m < samples; ++m) {
        float sine, c;
        sincosf(two_pi * (s[m].kx * px + s[m].ky * py + s[m].kz * pz), &sine, &c);
        real += s[m].real * c - s[m].imag * sine;
        imag += s[m].imag * c + s[m].real * sine;
    }
    out[n] = real;
    out[voxels + n] = imag;
}

template <bool fast>
__global__ void mri_constant(const float* x, const float* y, const float* z, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const float px = x[n], py = y[n], pz = z[n];
    float real = 0, imag = 0;
#pragma unroll 4
    for (int m = 0; m < samples; ++m) {
        const Sample& s = in_constant[m];
        const float angle = two_pi * (s.kx * px + s.ky * py + s.kz * pz);
        const float c = fast ? __cosf(angle) : cosf(angle), sine = fast ? __sinf(angle) : sinf(angle);
        real += s.real * c - s.imag * sine;
        imag += s.imag * c + s.real * sine;
    }
    out[n] = real;
    out[voxels + n] = imag;
}

void mri() {
    const auto place = [](unsigned i, unsigned axis) { return (i >> 5 * axis & 31) / 32.0f; };
    const auto x = filled<float>(voxels, [&](unsigned i) { return place(i, 0); });
    const auto y = filled<float>(voxels, [&](unsigned i) { return place(i, 1); });
    const auto z = filled<float>(voxels, [&](unsigned i) { return place(i, 2); });
    std::vector<Sample> s(samples);
    for (unsigned m = 0; m < samples; ++m)
        s[m] = {random_float(5 * m) - 0.5f, random_float(5 * m + 1) - 0.5f, random_float(5 * m + 2) - 0.5f,
                random_float(5 * m + 3), random_float(5 * m + 4)};
    CHECK(cudaMemcpyToSymbol(in_constant, s.data(), samples * sizeof(Sample)));
    Sample* ds = to_device(s);
    float *dx = to_device(x), *dy = to_device(y), *dz = to_device(z), *out = empty_array<float>(2 * voxels);
    const auto check = [&](std::size_t i) {
        const int n = i % voxels;
        double sum = 0;
        for (const Sample& each : s) {
            const double angle = 6.283185307179586 * (double(each.kx) * x[n] + double(each.ky) * y[n] + each.kz * z[n]);
            sum += i < voxels ? each.real * std::cos(angle) - each.imag * std::sin(angle)
                              : each.imag * std::cos(angle) + each.real * std::sin(angle);
        }
        return sum;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "32^3 voxels, 256 samples", out, 2 * voxels, check, launch);
    };
    show("mri: global", [&] { mri_global<<<voxels / 256, 256>>>(ds, dx, dy, dz, out); });
    show("mri: registers", [&] { mri_registers<<<voxels / 256, 256>>>(ds, dx, dy, dz, out); });
    show("mri: constant", [&] { mri_constant<false><<<voxels / 128, 128>>>(dx, dy, dz, out); });
    show("mri: fast functions", [&] { mri_constant<true><<<voxels / 128, 128>>>(dx, dy, dz, out); });
    CHECK(cudaFree(ds));
    for (float* each : {dx, dy, dz, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    roots();
    sobol();
    mri();
    return wrong;
}
