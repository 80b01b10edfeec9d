// Fifth held-out set: families of matrices and of numbers.
#include "families.cuh"

namespace {

// --- the two products of BiCG in one go: q = A p and s = A' r, 2048^2

constexpr int side = 2048;

__global__ void bicg_rows(const float* a, const float* p, float* q) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < side; ++j) sum += a[i * side + j] * p[j];
    q[i] = sum;
}

__global__ void bicg_columns(const float* a, const float* r, float* s) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < side; ++i) sum += a[i * side + j] * r[i];
    s[j] = sum;
}

__global__ void bicg_warp_row(const float* a, const float* p, float* q) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int j = threadIdx.x % 32; j < side; j += 32) sum += a[i * side + j] * p[j];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) q[i] = sum;
}

// 32 columns a block; each of its 32 warps has every 32nd row.
__global__ void bicg_block_columns(const float* a, const float* r, float* s) {
    __shared__ float sums[32][33];
    const int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 32 + x;
    float sum = 0;
    for (int i = y; i < side; i += 32) sum += a[i * side + j] * r[i];
    sums[y][x] = sum;
    __syncthreads();
    sum = warp_sum(sums[x][y]);
    if (x == 0) s[blockIdx.x * 32 + y] = sum;
}

// Reads the matrix once: a block has 8 rows, a thread of 256 has 8 columns of them.
__global__ void bicg_once(const float* a, const float* p, const float* r, float* q, float* s) {
    float down[8] = {}, own[8];
    for (int k = 0; k < 8; ++k) own[k] = p[k * 256 + threadIdx.x];
    for (int i = blockIdx.x * 8; i < blockIdx.x * 8 + 8; ++i) {
        const float scale = r[i];
        float across = 0;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const float value = a[i * side + k * 256 + threadIdx.x];
            across += value * own[k];
            down[k] += value * scale;
        }
        across = block_sum(across);
        if (threadIdx.x == 0) q[i] = across;
    }
    for (int k = 0; k < 8; ++k) atomicAdd(s + k * 256 + threadIdx.x, down[k]);
}

void bicg() {
    const auto a = filled<float>(side * side, random_float),
               p = filled<float>(2 * side, [](unsigned i) { return random_float(~i); });
    float *da = to_device(a), *dp = to_device(p), *out = empty_array<float>(2 * side), *q = out, *s = out + side;
    const auto show = [&](const char* what, int times, auto launch) {
        const auto check = [&](std::size_t i) {
            double sum = 0;
            for (int k = 0; k < side; ++k)
                sum += i < side ? a[i * side + k] * p[k] : a[k * side + i - side] * p[side + k];
            return i < side ? sum : sum * times;
        };
        measure(what, "2048^2", out, 2 * side, check, launch);
    };
    show("bicg: threads", 1, [&] {
        bicg_rows<<<side / 128, 128>>>(da, dp, q);
        bicg_columns<<<side / 128, 128>>>(da, dp + side, s);
    });
    show("bicg: warps", 1, [&] {
        bicg_warp_row<<<side / 8, 256>>>(da, dp, q);
        bicg_block_columns<<<side / 32, dim3(32, 32)>>>(da, dp + side, s);
    });
    show("bicg: once", launches, [&] { bicg_once<<<side / 8, 256>>>(da, dp, dp + side, q, s); });
    for (float* each : {da, dp, out}) CHECK(cudaFree(each));
}

// --- inverses of 2^15 matrices of 8 x 8, in doubles (Gauss and Jordan, the largest pivot of a column)

constexpr int matrices = 1 << 15, m = 8;

// In place: what swapped the rows swaps the inverse's columns, from the last to the first.
__host__ __device__ inline void invert(double a[m][m]) {
    int from[m];
    for (int k = 0; k < m; ++k) {
        int best = k;
        for (int i = k + 1; i < m; ++i)
            if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
        from[k] = best;
        for (int j = 0; j < m; ++j) {
            const double other = a[best][j];
            a[best][j] = a[k][j];
            a[k][j] = other;
        }
        const double scale = 1 / a[k][k];
        a[k][k] = 1;
        for (int j = 0; j < m; ++j) a[k][j] *= scale;
        for (int i = 0; i < m; ++i) {
            if (i == k) continue;
            const double factor = a[i][k];
            a[i][k] = 0;
            for (int j = 0; j < m; ++j) a[i][j] -= factor * a[k][j];
        }
    }
    for (int k = m - 1; k >= 0; --k)
        for (int i = 0; i < m; ++i) {
            const double other = a[i][k];
            a[i][k] = a[i][from[k]];
            a[i][from[k]] = other;
        }
}

__global__ void invert_thread(const double* in, double* out) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * m * m;
    double a[m][m];
    for (int e = 0; e < m * m; ++e) a[e / m][e % m] = in[first + e];
    invert(a);
    for (int e = 0; e < m * m; ++e) out[first + e] = a[e / m][e % m];
}

// Eight lanes a matrix, each with one row of it and of the unit matrix; rows stay where they are.
__global__ void invert_lanes(const double* in, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % m;
    double a[2 * m];
#pragma unroll
    for (int j = 0; j < m; ++j) a[j] = in[i * m + j], a[m + j] = j == lane;
    int place = -1;
#pragma unroll
    for (int k = 0; k < m; ++k) {
        double most = place < 0 ? fabs(a[k]) : -1;
        int pivot = lane;
        for (int d = 1; d < m; d *= 2) {
            const double value = __shfl_xor_sync(~0u, most, d, m);
            const int its = __shfl_xor_sync(~0u, pivot, d, m);
            if (value > most || (value == most && its < pivot)) most = value, pivot = its;
        }
        if (lane == pivot) place = k;
        const double scale = 1 / __shfl_sync(~0u, a[k], pivot, m), factor = lane == pivot ? 1 - scale : a[k] * scale;
#pragma unroll
        for (int j = 0; j < 2 * m; ++j) a[j] -= factor * __shfl_sync(~0u, a[j], pivot, m);
    }
#pragma unroll
    for (int j = 0; j < m; ++j) out[(i - lane + place) * m + j] = a[m + j];
}

// A warp a matrix, four of its and the unit matrix's elements a lane.
__global__ void invert_shared(const double* in, double* out) {
    __shared__ double tiles[4][m][2 * m + 1];
    const int lane = threadIdx.x % 32, first = (blockIdx.x * 4 + threadIdx.x / 32) * m * m, x = lane % 16;
    auto& a = tiles[threadIdx.x / 32];
    for (int y = lane / 16; y < m; y += 2) a[y][x] = x < m ? in[first + y * m + x] : x - m == y;
    __syncwarp();
    for (int k = 0; k < m; ++k) {
        int best = k;
        for (int i = k + 1; i < m; ++i)
            if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
        const double scale = 1 / a[best][k], top = a[k][x], pivot = a[best][x] * scale;
        double factors[4];
        for (int r = 0; r < 4; ++r) factors[r] = a[r * 2 + lane / 16 == best ? k : r * 2 + lane / 16][k];
        __syncwarp();
        if (lane < 16) a[best][x] = top, a[k][x] = pivot;
        __syncwarp();
        for (int r = 0; r < 4; ++r)
            if (r * 2 + lane / 16 != k) a[r * 2 + lane / 16][x] -= factors[r] * pivot;
        __syncwarp();
    }
    for (int e = lane; e < m * m; e += 32) out[first + e] = a[e / m][m + e % m];
}

void inverses() {
    const int n = matrices * m * m;
    const auto in = filled<double>(n, [](unsigned i) { return random_float(i) - 0.5 + (i % 64 % 11 == 0); });
    double *din = to_device(in), *out = empty_array<double>(n);
    const auto check = [&](std::size_t i) {
        double a[m][m];
        std::copy_n(in.begin() + i / 64 * 64, 64, &a[0][0]);
        invert(a);
        return a[i % 64 / m][i % m];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^15 of 8^2", out, n, check, launch); };
    show("invert: thread", [&] { invert_thread<<<matrices / 128, 128>>>(din, out); });
    show("invert: lanes", [&] { invert_lanes<<<matrices * m / 128, 128>>>(din, out); });
    show("invert: shared", [&] { invert_shared<<<matrices / 4, 128>>>(din, out); });
    for (double* each : {din, out}) CHECK(cudaFree(each));
}

// --- AES with a key of 128 bits in counter mode, by tables: 2^19 blocks of 16 bytes

constexpr int cipher_blocks = 1 << 19;
__constant__ unsigned round_keys[44], aes_table[256];

__host__ __device__ inline unsigned turned(unsigned x, int by) { return x >> by | x << (32 - by); }

// table[x] is 2 s, s, s and 3 s for s = S[x], from the highest byte on.
__host__ __device__ inline uint4 encrypt(unsigned counter, const unsigned* key, const unsigned* table) {
    unsigned s[4] = {key[0], key[1], key[2], key[3] ^ counter}, t[4];
#pragma unroll
    for (int round = 1; round <= 10; ++round) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const unsigned w = table[s[c] >> 24], x = table[s[(c + 1) % 4] >> 16 & 255];
            const unsigned y = table[s[(c + 2) % 4] >> 8 & 255], z = table[s[(c + 3) % 4] & 255];
            t[c] = round < 10 ? w ^ turned(x, 8) ^ turned(y, 16) ^ turned(z, 24)
                              : (w << 8 & 0xff000000) | (x & 0xff0000) | (y & 0xff00) | (z >> 8 & 0xff);
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) s[c] = t[c] ^ key[round * 4 + c];
    }
    return make_uint4(s[0], s[1], s[2], s[3]);
}

__global__ void aes_constant(uint4* data) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = encrypt(i, round_keys, aes_table);
}

__global__ void aes_global(const unsigned* __restrict__ table, uint4* __restrict__ data) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = encrypt(i, round_keys, table);
}

__global__ void aes_shared(const unsigned* table, uint4* data) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    FOR_GRID(i, cipher_blocks) data[i] = encrypt(i, round_keys, own);
}

void aes() {
    std::vector<unsigned> table(256), key(44);
    table[0] = 0x63;
    unsigned p = 1, q = 1;  // q is always 1 / p
    do {
        p = (p ^ p << 1 ^ (p >> 7) * 0x11b) & 255;
        q ^= q << 1, q ^= q << 2, q ^= q << 4, q &= 255;
        q ^= (q >> 7) * 0x09;
        table[p] = (q ^ (q << 1 | q >> 7) ^ (q << 2 | q >> 6) ^ (q << 3 | q >> 5) ^ (q << 4 | q >> 4) ^ 0x63) & 255;
    } while (p != 1);
    for (unsigned& each : table) {
        const unsigned twice = (each << 1 ^ (each >> 7) * 0x11b) & 255;
        each = twice << 24 | each << 16 | each << 8 | (twice ^ each);
    }
    const auto s = [&](unsigned x) { return table[x & 255] >> 8 & 255; };
    unsigned constant = 1;
    for (unsigned i = 0; i < 44; ++i) {
        unsigned word = i < 4 ? 0x00010203 + i * 0x04040404 : key[i - 1];
        if (i >= 4 && i % 4 == 0) {
            word = s(word >> 16) << 24 | s(word >> 8) << 16 | s(word) << 8 | s(word >> 24);
            word ^= constant << 24;
            constant = (constant << 1 ^ (constant >> 7) * 0x11b) & 255;
        }
        key[i] = i < 4 ? word : key[i - 4] ^ word;
    }
    CHECK(cudaMemcpyToSymbol(round_keys, key.data(), sizeof round_keys));
    CHECK(cudaMemcpyToSymbol(aes_table, table.data(), sizeof aes_table));
    unsigned *dt = to_device(table), *out = empty_array<unsigned>(cipher_blocks * 4);
    const auto check = [&](std::size_t i) {
        const uint4 want = encrypt(static_cast<unsigned>(i / 4), key.data(), table.data());
        return i % 4 == 0 ? want.x : i % 4 == 1 ? want.y : i % 4 == 2 ? want.z : want.w;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "8 MiB", out, cipher_blocks * 4, check, launch);
    };
    show("aes: constant", [&] { aes_constant<<<cipher_blocks / 256, 256>>>((uint4*)out); });
    show("aes: global", [&] { aes_global<<<cipher_blocks / 256, 256>>>(dt, (uint4*)out); });
    show("aes: shared", [&] { aes_shared<<<528, 256>>>(dt, (uint4*)out); });
    for (unsigned* each : {dt, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    bicg();
    inverses();
    aes();
    return wrong;
}
