// Sixth held-out set: products, a layer, a filter of volumes, conjugate gradients.
#include "families.cuh"

namespace {

// --- products of 256^2: a row or a column of the result a thread, or tiles of which a thread has four elements

constexpr int side = 256;

__global__ void matrix_rows(const float* a, const float* b, float* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < side; ++j) {
        float sum = 0;
        for (int k = 0; k < side; ++k) sum += a[i * side + k] * b[k * side + j];
        c[i * side + j] = sum;
    }
}

__global__ void matrix_columns(const float* a, const float* b, float* c) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < side; ++i) {
        float sum = 0;
        for (int k = 0; k < side; ++k) sum += a[i * side + k] * b[k * side + j];
        c[i * side + j] = sum;
    }
}

__global__ void matrix_coarse(const float* a, const float* b, float* c) {
    constexpr int tile = 16, each = 4;
    __shared__ float as[tile][tile], bs[tile][tile];
    const int y = threadIdx.y, x = threadIdx.x, i = blockIdx.y * tile + y, begin = blockIdx.x * tile * each + x;
    float sums[each] = {};
    for (int k = 0; k < side; k += tile) {
        as[y][x] = a[i * side + k + x];
        for (int part = 0; part < each; ++part) {
            bs[y][x] = b[(k + y) * side + begin + part * tile];
            __syncthreads();
            for (int m = 0; m < tile; ++m) sums[part] += as[y][m] * bs[m][x];
            __syncthreads();
        }
    }
    for (int part = 0; part < each; ++part) c[i * side + begin + part * tile] = sums[part];
}

void matrix() {
    const int n = side * side;
    const auto a = filled<float>(n, random_float), b = filled<float>(n, [](unsigned i) { return random_float(~i); });
    float *da = to_device(a), *db = to_device(b), *c = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < side; ++k) sum += a[i / side * side + k] * b[k * side + i % side];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "256^2", c, n, check, launch); };
    show("matrix: rows", [&] { matrix_rows<<<side / 64, 64>>>(da, db, c); });
    show("matrix: columns", [&] { matrix_columns<<<side / 64, 64>>>(da, db, c); });
    show("matrix: coarse", [&] { matrix_coarse<<<dim3(side / 64, side / 16), dim3(16, 16)>>>(da, db, c); });
    for (float* each : {da, db, c}) CHECK(cudaFree(each));
}

// --- a dense layer: sigmoid of W x + b for a batch of 800, 784 numbers to 128; all matrices by columns

constexpr int units = 128, inputs = 784, batch = 800;

__device__ float sigmoid(float x) { return 1 / (1 + expf(-x)); }

__global__ void dense_bias(const float* b, float* z) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    z[j * units + i] = b[i];
}

__global__ void dense_product(const float* w, const float* x, float* z) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < inputs; ++k) sum += w[k * units + i] * x[j * inputs + k];
    z[j * units + i] += sum;
}

__global__ void dense_sigmoid(float* z) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = sigmoid(z[i]);
}

__global__ void dense_fused(const float* w, const float* x, const float* b, float* z) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = b[i];
    for (int k = 0; k < inputs; ++k) sum += w[k * units + i] * x[j * inputs + k];
    z[j * units + i] = sigmoid(sum);
}

__global__ void dense_tile(const float* w, const float* x, const float* b, float* z) {
    __shared__ float ws[16][16], xs[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * 16 + tx, j = blockIdx.y * 16 + ty;
    float sum = b[i];
    for (int k = 0; k < inputs; k += 16) {
        ws[ty][tx] = w[(k + ty) * units + i];
        xs[ty][tx] = x[j * inputs + k + tx];
        __syncthreads();
        for (int m = 0; m < 16; ++m) sum += ws[m][tx] * xs[ty][m];
        __syncthreads();
    }
    z[j * units + i] = sigmoid(sum);
}

// 64 x 16 a block of 64: a thread has a row, W goes through registers.
__global__ void dense_registers(const float* w, const float* x, const float* b, float* z) {
    __shared__ float xs[16][17];
    const int i = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 16;
    float sums[16];
    for (float& sum : sums) sum = b[i];
    for (int k = 0; k < inputs; k += 16) {
        for (int t = threadIdx.x; t < 256; t += 64) xs[t % 16][t / 16] = x[(first + t / 16) * inputs + k + t % 16];
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 16; ++m) {
            const float weight = w[(k + m) * units + i];
#pragma unroll
            for (int j = 0; j < 16; ++j) sums[j] += weight * xs[m][j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 16; ++j) z[(first + j) * units + i] = sigmoid(sums[j]);
}

void dense() {
    const int n = units * batch;
    const auto w = filled<float>(units * inputs, [](unsigned i) { return random_float(i) / 8 - 1 / 16.f; });
    const auto x = filled<float>(inputs * batch, [](unsigned i) { return random_float(~i); });
    const auto b = filled<float>(units, [](unsigned i) { return random_float(i) - 0.5f; });
    float *dw = to_device(w), *dx = to_device(x), *db = to_device(b), *z = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = b[i % units];
        for (int k = 0; k < inputs; ++k) sum += w[k * units + i % units] * x[i / units * inputs + k];
        return 1 / (1 + std::exp(-sum));
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "784 to 128, 800", z, n, check, launch); };
    const dim3 block(16, 16), grid(units / 16, batch / 16);
    show("dense: three", [&] {
        dense_bias<<<grid, block>>>(db, z);
        dense_product<<<grid, block>>>(dw, dx, z);
        dense_sigmoid<<<n / 256, 256>>>(z);
    });
    show("dense: fused", [&] { dense_fused<<<grid, block>>>(dw, dx, db, z); });
    show("dense: tile", [&] { dense_tile<<<grid, block>>>(dw, dx, db, z); });
    show("dense: registers", [&] { dense_registers<<<dim3(units / 64, batch / 16), 64>>>(dw, dx, db, z); });
    for (float* each : {dw, dx, db, z}) CHECK(cudaFree(each));
}

// --- a filter of 3^3 over a volume of 96 x 128 x 128, zero outside

constexpr int wide = 128, high = 128, deep = 96;

__constant__ float filter[27];

__device__ float voxel(const float* in, int x, int y, int z) {
    return x >= 0 && x < wide && y >= 0 && y < high && z >= 0 && z < deep ? in[(z * high + y) * wide + x] : 0;
}

// `weights` is null if they are in constant memory.
template <bool constant>
__global__ void volume_global(const float* in, const float* weights, float* out) {
    const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 8 + threadIdx.z;
    float sum = 0;
    for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i)
                sum += (constant ? filter : weights)[(k * 3 + j) * 3 + i] * voxel(in, x + i - 1, y + j - 1, z + k - 1);
    out[(z * high + y) * wide + x] = sum;
}

__global__ void volume_tile(const float* in, float* out) {
    __shared__ float tile[10][10][10];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int left = blockIdx.x * 8, top = blockIdx.y * 8, front = blockIdx.z * 8;
    for (int t = (z * 8 + y) * 8 + x; t < 1000; t += 512)
        tile[t / 100][t / 10 % 10][t % 10] = voxel(in, left + t % 10 - 1, top + t / 10 % 10 - 1, front + t / 100 - 1);
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) sum += filter[(k * 3 + j) * 3 + i] * tile[z + k][y + j][x + i];
    out[((front + z) * high + top + y) * wide + left + x] = sum;
}

// Planes of 32 x 8 one after the other, three of them in shared memory.
__global__ void volume_planes(const float* in, float* out, int planes) {
    __shared__ float tile[3][10][34];
    const int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 8;
    const int begin = blockIdx.z * planes;
    const auto load = [&](int z) {
        for (int t = y * 32 + x; t < 340; t += 256)
            tile[(z + 3) % 3][t / 34][t % 34] = voxel(in, left + t % 34 - 1, top + t / 34 - 1, z);
    };
    load(begin - 1);
    load(begin);
    for (int z = begin; z < begin + planes; ++z) {
        load(z + 1);
        __syncthreads();
        float sum = 0;
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3; ++i) sum += filter[(k * 3 + j) * 3 + i] * tile[(z + k + 2) % 3][y + j][x + i];
        out[(z * high + top + y) * wide + left + x] = sum;
        __syncthreads();
    }
}

void volume() {
    const int n = wide * high * deep;
    const auto in = filled<float>(n, random_float), weights = filled<float>(27, random_float);
    CHECK(cudaMemcpyToSymbol(filter, weights.data(), sizeof filter));
    float *din = to_device(in), *dw = to_device(weights), *out = empty_array<float>(n);
    const auto check = [&](std::size_t at) {
        const int x = at % wide, y = at / wide % high, z = static_cast<int>(at / wide / high);
        double sum = 0;
        for (int k = 0; k < 27; ++k) {
            const int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
            if (u < 0 || u >= wide || v < 0 || v >= high || w < 0 || w >= deep) continue;
            sum += weights[k] * in[(w * high + v) * wide + u];
        }
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "128 x 128 x 96", out, n, check, launch); };
    const dim3 block(8, 8, 8), grid(wide / 8, high / 8, deep / 8);
    show("volume: pointer", [&] { volume_global<false><<<grid, block>>>(din, dw, out); });
    show("volume: constant", [&] { volume_global<true><<<grid, block>>>(din, nullptr, out); });
    show("volume: tile", [&] { volume_tile<<<grid, block>>>(din, out); });
    show("volume: planes", [&] { volume_planes<<<dim3(wide / 32, high / 8, 4), dim3(32, 8)>>>(din, out, deep / 4); });
    for (float* each : {din, dw, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    matrix();
    dense();
    volume();
    return wrong;
}
