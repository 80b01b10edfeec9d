// Seventh held-out set: points in space and in the plane, each with much to compute.
#include "families.cuh"

namespace {

// --- F'd of a magnetic resonance image: 2^15 voxels, each by 512 samples in the space of frequencies

constexpr int samples = 512, voxels = 1 << 15;
constexpr float turn = 6.2831853f;

struct Sample {
    float x, y, z, real, imaginary;
};
__constant__ Sample constant_samples[samples];

// A sample's parts are `samples` floats apart; a voxel's parts are `voxels` apart here and everywhere.
__global__ void resonance_global(const float* k, const float* at, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = out[voxels + i] = 0;
    for (int m = 0; m < samples; ++m) {
        const float phase =
            turn * (k[m] * at[i] + k[samples + m] * at[voxels + i] + k[2 * samples + m] * at[2 * voxels + i]);
        const float c = cosf(phase), s = sinf(phase), re = k[3 * samples + m], im = k[4 * samples + m];
        out[i] += re * c - im * s;
        out[voxels + i] += im * c + re * s;
    }
}

template <bool fast>
__global__ void resonance_registers(const float* at, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = at[i], y = at[voxels + i], z = at[2 * voxels + i];
    float real = 0, imaginary = 0;
    for (int m = 0; m < samples; ++m) {
        const Sample k = constant_samples[m];
        const float phase = turn * (k.x * x + k.y * y + k.z * z);
        const float c = fast ? __cosf(phase) : cosf(phase), s = fast ? __sinf(phase) : sinf(phase);
        real += k.real * c - k.imaginary * s;
        imaginary += k.imaginary * c + k.real * s;
    }
    out[i] = real, out[voxels + i] = imaginary;
}

void resonance() {
    const auto k = filled<float>(5 * samples, [](unsigned i) { return random_float(i) - 0.5f; });
    const auto at = filled<float>(3 * voxels, [](unsigned i) { return random_float(~i) * 4; });
    std::vector<Sample> together(samples);
    for (int m = 0; m < samples; ++m)
        together[m] = {k[m], k[samples + m], k[2 * samples + m], k[3 * samples + m], k[4 * samples + m]};
    CHECK(cudaMemcpyToSymbol(constant_samples, together.data(), sizeof constant_samples));
    float *dk = to_device(k), *da = to_device(at), *out = empty_array<float>(2 * voxels);
    const auto check = [&](std::size_t i) {
        const std::size_t v = i % voxels;
        double sum = 0;
        for (const Sample& each : together) {
            const double phase =
                2 * M_PI *
                (double(each.x) * at[v] + double(each.y) * at[voxels + v] + double(each.z) * at[2 * voxels + v]);
            sum += i < voxels ? each.real * std::cos(phase) - each.imaginary * std::sin(phase)
                              : each.imaginary * std::cos(phase) + each.real * std::sin(phase);
        }
        return sum;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^15 voxels, 512 samples", out, 2 * voxels, check, launch);
    };
    show("resonance: global", [&] { resonance_global<<<voxels / 256, 256>>>(dk, da, out); });
    show("resonance: registers", [&] { resonance_registers<false><<<voxels / 128, 128>>>(da, out); });
    show("resonance: fast", [&] { resonance_registers<true><<<voxels / 128, 128>>>(da, out); });
    for (float* each : {dk, da, out}) CHECK(cudaFree(each));
}

// --- a Julia set of 768 x 512 pixels, the mean of four points in each, up to 96 iterations

constexpr int julia_wide = 768, julia_high = 512;

// Rounded alike on every machine.
__device__ __host__ inline int julia_steps(int x, int y, int sample) {
    float a = (2 * x + sample % 2 - julia_wide) * 0.002f, b = (2 * y + sample / 2 - julia_high) * 0.002f;
    int steps = 0;
    while (steps < 96 && fmaf(a, a, b * b) < 4) {
        const float next = fmaf(a, a, fmaf(-b, b, -0.8f));
        b = fmaf(2 * a, b, 0.156f);
        a = next;
        ++steps;
    }
    return steps;
}

__device__ inline float julia_four(int x, int y) {
    int sum = 0;
    for (int k = 0; k < 4; ++k) sum += julia_steps(x, y, k);
    return sum / 4.0f;
}

__global__ void julia_pixel(float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * julia_wide + x] = julia_four(x, y);
}

// A thread a point.
__global__ void julia_points(float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, pixel = i / 4;
    int sum = julia_steps(pixel % julia_wide, pixel / julia_wide, i % 4);
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    if (i % 4 == 0) out[pixel] = sum / 4.0f;
}

__global__ void julia_begin(int* next) { *next = 0; }

// Each warp takes 32 pixels of a line when it is done with those before.
__global__ void julia_queue(float* out, int* next) {
    const int lane = threadIdx.x % 32;
    while (true) {
        int first = lane == 0 ? atomicAdd(next, 32) : 0;
        first = __shfl_sync(~0u, first, 0);
        if (first >= julia_wide * julia_high) return;
        const int i = first + lane;
        out[i] = julia_four(i % julia_wide, i / julia_wide);
    }
}

void julia() {
    const int n = julia_wide * julia_high;
    float* out = empty_array<float>(n);
    int* next = empty_array<int>(1);
    const auto check = [](std::size_t i) {
        int sum = 0;
        for (int k = 0; k < 4; ++k) sum += julia_steps(i % julia_wide, i / julia_wide, k);
        return sum / 4.0;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "768 x 512 x 4", out, n, check, launch); };
    show("julia: pixel", [&] { julia_pixel<<<dim3(julia_wide / 16, julia_high / 16), dim3(16, 16)>>>(out); });
    show("julia: points", [&] { julia_points<<<n / 64, 256>>>(out); });
    show("julia: queue", [&] {
        julia_begin<<<1, 1>>>(next);
        julia_queue<<<264, 256>>>(out, next);
    });
    CHECK(cudaFree(out));
    CHECK(cudaFree(next));
}

// --- new velocities of 4096 birds by three rules: towards those near, away from the nearest, along with them (boids)

constexpr int birds = 4096;

struct Bird {
    float x, y, z, vx, vy, vz;
};

struct Flock {
    float x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, ax = 0, ay = 0, az = 0;
    int count = 0;

    // One that is the bird itself is 0 away: it changes nothing but the count.
    __device__ void see(const float3& me, float ox, float oy, float oz, float ovx, float ovy, float ovz) {
        const float dx = ox - me.x, dy = oy - me.y, dz = oz - me.z, square = dx * dx + dy * dy + dz * dz;
        if (square >= 0.09f) return;
        x += dx, y += dy, z += dz, vx += ovx, vy += ovy, vz += ovz;
        ++count;
        if (square < 0.01f) ax -= dx, ay -= dy, az -= dz;
    }

    __device__ float3 velocity(float px, float py, float pz) const {
        const float share = 1.0f / count;
        float3 v = make_float3(px + 0.1f * x * share + ax + 0.2f * (vx * share - px),
                               py + 0.1f * y * share + ay + 0.2f * (vy * share - py),
                               pz + 0.1f * z * share + az + 0.2f * (vz * share - pz));
        const float speed = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z), scale = speed > 1 ? 1 / speed : 1;
        return make_float3(v.x * scale, v.y * scale, v.z * scale);
    }
};

__global__ void boids_structs(const Bird* in, float3* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float3 me = make_float3(in[i].x, in[i].y, in[i].z);
    Flock flock;
    for (int k = 0; k < birds; ++k) flock.see(me, in[k].x, in[k].y, in[k].z, in[k].vx, in[k].vy, in[k].vz);
    out[i] = flock.velocity(in[i].vx, in[i].vy, in[i].vz);
}

// Birds by 64 in shared memory.
__global__ void boids_shared(const float4* places, const float4* speeds, float3* out) {
    __shared__ float4 place[64], speed[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float4 mine = places[i], v = speeds[i];
    Flock flock;
    for (int first = 0; first < birds; first += 64) {
        place[threadIdx.x] = places[first + threadIdx.x];
        speed[threadIdx.x] = speeds[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; ++k)
            flock.see(make_float3(mine.x, mine.y, mine.z), place[k].x, place[k].y, place[k].z, speed[k].x, speed[k].y,
                      speed[k].z);
        __syncthreads();
    }
    out[i] = flock.velocity(v.x, v.y, v.z);
}

// A warp a bird.
__global__ void boids_warp(const float4* places, const float4* speeds, float3* out) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float4 mine = places[i], v = speeds[i];
    Flock flock;
    for (int k = lane; k < birds; k += 32) {
        const float4 place = places[k], speed = speeds[k];
        flock.see(make_float3(mine.x, mine.y, mine.z), place.x, place.y, place.z, speed.x, speed.y, speed.z);
    }
    flock.x = warp_sum(flock.x), flock.y = warp_sum(flock.y), flock.z = warp_sum(flock.z);
    flock.vx = warp_sum(flock.vx), flock.vy = warp_sum(flock.vy), flock.vz = warp_sum(flock.vz);
    flock.ax = warp_sum(flock.ax), flock.ay = warp_sum(flock.ay), flock.az = warp_sum(flock.az);
    flock.count = __reduce_add_sync(~0u, flock.count);
    if (lane == 0) out[i] = flock.velocity(v.x, v.y, v.z);
}

void boids() {
    std::vector<Bird> in(birds);
    std::vector<float4> places(birds), speeds(birds);
    for (int i = 0; i < birds; ++i) {
        const auto value = [&](int k) { return random_float(6 * i + k); };
        in[i] = {value(0), value(1), value(2), value(3) - 0.5f, value(4) - 0.5f, value(5) - 0.5f};
        places[i] = {in[i].x, in[i].y, in[i].z, 0};
        speeds[i] = {in[i].vx, in[i].vy, in[i].vz, 0};
    }
    const auto din = to_device(in);
    float4 *dp = to_device(places), *ds = to_device(speeds);
    float* out = empty_array<float>(3 * birds);
    const auto check = [&](std::size_t at) {
        const Bird& me = in[at / 3];
        double d[3] = {}, v[3] = {}, a[3] = {}, result[3], speed = 0;
        int count = 0;
        for (const Bird& each : in) {
            const double away[3] = {each.x - me.x, each.y - me.y, each.z - me.z};
            const double square = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
            if (square >= 0.09) continue;
            ++count;
            for (int k = 0; k < 3; ++k) {
                d[k] += away[k], v[k] += (&each.vx)[k];
                if (square < 0.01) a[k] -= away[k];
            }
        }
        for (int k = 0; k < 3; ++k) {
            const double old = (&me.vx)[k];
            result[k] = old + 0.1 * d[k] / count + a[k] + 0.2 * (v[k] / count - old);
            speed += result[k] * result[k];
        }
        return result[at % 3] / std::fmax(1, std::sqrt(speed));
    };
    const auto out3 = reinterpret_cast<float3*>(out);
    const auto show = [&](const char* what, auto launch) { measure(what, "4096", out, 3 * birds, check, launch); };
    show("boids: structs", [&] { boids_structs<<<birds / 64, 64>>>(din, out3); });
    show("boids: shared", [&] { boids_shared<<<birds / 64, 64>>>(dp, ds, out3); });
    show("boids: warp", [&] { boids_warp<<<birds / 8, 256>>>(dp, ds, out3); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(dp));
    CHECK(cudaFree(ds));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    resonance();
    julia();
    boids();
    return wrong;
}
