// Second held-out set: families of chains: modular and polynomial arithmetic, checksums, dynamic programs, trees.
#include "families.cuh"

namespace {

// --- powers modulo the prime 2^31 - 1

constexpr unsigned prime = 0x7fffffff;

__host__ __device__ inline unsigned power_of(unsigned x, unsigned exponent, unsigned modulus) {
    unsigned long long base = x, result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    return static_cast<unsigned>(result);
}

__global__ void power_remainder(const unsigned* x, unsigned* out, unsigned exponent, unsigned modulus) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = power_of(x[i], exponent, modulus);
}

__host__ __device__ inline unsigned fold(unsigned long long product) {
    const unsigned sum = (product & prime) + static_cast<unsigned>(product >> 31);
    return sum >= prime ? sum - prime : sum;
}

__global__ void power_fold(const unsigned* x, unsigned* out, unsigned exponent) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long base = x[i], result = 1;
    for (unsigned e = exponent; e > 0; e /= 2, base = fold(base * base))
        if (e & 1) result = fold(result * base);
    out[i] = result;
}

__device__ inline unsigned montgomery(unsigned a, unsigned b, unsigned modulus, unsigned inverse) {
    const unsigned low = a * b * inverse, high = __umulhi(a, b), borrow = __umulhi(low, modulus);
    return high >= borrow ? high - borrow : high - borrow + modulus;
}

// 4 is 2^64 modulo the prime; the inverse is of the prime modulo 2^32.
__global__ void power_montgomery(const unsigned* x, unsigned* out, unsigned e, unsigned modulus, unsigned inverse) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned base = montgomery(x[i], 4, modulus, inverse), result = montgomery(1, 4, modulus, inverse);
    for (; e > 0; e /= 2, base = montgomery(base, base, modulus, inverse))
        if (e & 1) result = montgomery(result, base, modulus, inverse);
    out[i] = montgomery(result, 1, modulus, inverse);
}

void power() {
    const int n = 1 << 20;
    const unsigned exponent = 0x35a3c6d7;
    const auto x = filled<unsigned>(n, [](unsigned i) { return hash(i) % prime; });
    unsigned *dx = to_device(x), *out = empty_array<unsigned>(n), inverse = 1;
    for (int k = 0; k < 5; ++k) inverse *= 2 - prime * inverse;
    const auto check = [&](std::size_t i) { return power_of(x[i], exponent, prime); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^20", out, n, check, launch); };
    show("power: remainder", [&] { power_remainder<<<n / 256, 256>>>(dx, out, exponent, prime); });
    show("power: fold", [&] { power_fold<<<n / 256, 256>>>(dx, out, exponent); });
    show("power: montgomery", [&] { power_montgomery<<<n / 256, 256>>>(dx, out, exponent, prime, inverse); });
    for (unsigned* each : {dx, out}) CHECK(cudaFree(each));
}

// --- a polynomial of degree 63

constexpr int terms = 64;

template <class T>
struct Terms {
    T c[terms];
};

template <class T>
__host__ __device__ T horner(const T* c, T x) {
    T sum = 0;
#pragma unroll
    for (int k = terms - 1; k >= 0; --k) sum = sum * x + c[k];
    return sum;
}

template <class T>
__global__ void polynomial_horner(const float* x, float* out, Terms<T> t) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = static_cast<float>(horner(t.c, static_cast<T>(x[i])));
}

// Pairs of terms, pairs of pairs, and so on.
__global__ void polynomial_estrin(const float* x, float* out, Terms<float> t) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sums[terms], power = x[i];
#pragma unroll
    for (int k = 0; k < terms; ++k) sums[k] = t.c[k];
#pragma unroll
    for (int count = terms / 2; count > 0; count /= 2, power *= power)
#pragma unroll
        for (int k = 0; k < count; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1] * power;
    out[i] = sums[0];
}

void polynomial() {
    const int n = 1 << 23;
    const auto x = filled<float>(n, [](unsigned i) { return 2 * random_float(i) - 1; });
    Terms<float> t;
    Terms<double> wide;
    for (int k = 0; k < terms; ++k) wide.c[k] = t.c[k] = random_float(~k);
    float *dx = to_device(x), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) { return horner(wide.c, static_cast<double>(x[i])); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^23", out, n, check, launch); };
    show("polynomial: float", [&] { polynomial_horner<<<n / 256, 256>>>(dx, out, t); });
    show("polynomial: double", [&] { polynomial_horner<<<n / 256, 256>>>(dx, out, wide); });
    show("polynomial: estrin", [&] { polynomial_estrin<<<n / 256, 256>>>(dx, out, t); });
    for (float* each : {dx, out}) CHECK(cudaFree(each));
}

// --- CRC-32 of records of 64 bytes

__host__ __device__ inline unsigned crc_bits(unsigned crc, int bits) {
    for (int k = 0; k < bits; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    return crc;
}

__host__ __device__ inline unsigned crc_record(const unsigned* in) {
    unsigned crc = ~0u;
    for (int k = 0; k < 16; ++k) crc = crc_bits(crc ^ in[k], 32);
    return ~crc;
}

__global__ void crc_bitwise(const unsigned* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = crc_record(in + i * 16);
}

__global__ void crc_bytes(const unsigned char* in, unsigned* out, const unsigned* tables) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int k = 0; k < 64; ++k) crc = crc >> 8 ^ tables[(crc ^ in[i * 64 + k]) & 255];
    out[i] = ~crc;
}

// Four bytes at a time, by four tables in shared memory.
__global__ void crc_slices(const uint4* in, unsigned* out, const unsigned* tables) {
    __shared__ unsigned table[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) table[k] = tables[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int k = 0; k < 4; ++k) {
        const uint4 v = in[i * 4 + k];
        for (unsigned word : {v.x, v.y, v.z, v.w}) {
            crc ^= word;
            crc = table[768 + (crc & 255)] ^ table[512 + (crc >> 8 & 255)] ^ table[256 + (crc >> 16 & 255)] ^
                  table[crc >> 24];
        }
    }
    out[i] = ~crc;
}

void crc() {
    const int n = 1 << 19;
    const auto in = filled<unsigned>(n * 16, hash);
    const auto tables = filled<unsigned>(1024, [](unsigned i) { return crc_bits(i % 256, 8 + i / 256 * 8); });
    unsigned *din = to_device(in), *dtables = to_device(tables), *out = empty_array<unsigned>(n);
    const auto check = [&](std::size_t i) { return crc_record(&in[i * 16]); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^19 of 64", out, n, check, launch); };
    show("crc: bits", [&] { crc_bitwise<<<n / 256, 256>>>(din, out); });
    show("crc: bytes", [&] { crc_bytes<<<n / 256, 256>>>((const unsigned char*)din, out, dtables); });
    show("crc: slices", [&] { crc_slices<<<n / 256, 256>>>((const uint4*)din, out, dtables); });
    for (unsigned* each : {din, dtables, out}) CHECK(cudaFree(each));
}

// --- edit distance of pairs of strings of 64

constexpr int letters = 64;

__host__ __device__ inline int edit(const char* a, const char* b) {
    int row[letters + 1];
    for (int j = 0; j <= letters; ++j) row[j] = j;
    for (int i = 0; i < letters; ++i) {
        int corner = i;
        row[0] = i + 1;
        for (int j = 0; j < letters; ++j) {
            const int change = corner + (a[i] != b[j]), least = row[j] < row[j + 1] ? row[j] : row[j + 1];
            corner = row[j + 1];
            row[j + 1] = change < least + 1 ? change : least + 1;
        }
    }
    return row[letters];
}

__global__ void edit_thread(const char* a, const char* b, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = edit(a + i * letters, b + i * letters);
}

// A block a pair, a thread a column; diagonal after diagonal, of which three are kept.
__global__ void edit_diagonals(const char* a, const char* b, int* out) {
    __shared__ char first[letters];
    __shared__ int kept[3][letters + 1];
    const int j = threadIdx.x;
    first[j] = a[blockIdx.x * letters + j];
    const char own = b[blockIdx.x * letters + j];
    for (int d = 0; d < 2 * letters - 1; ++d) {
        int *now = kept[d % 3], *last = kept[(d + 2) % 3], *before = kept[(d + 1) % 3];
        __syncthreads();
        const int i = d - j;
        if (i < 0 || i >= letters) continue;
        const int up = i == 0 ? j + 1 : last[j + 1], left = j == 0 ? i + 1 : last[j];
        const int corner = i == 0 ? j : j == 0 ? i : before[j];
        now[j + 1] = min(min(up, left) + 1, corner + (first[i] != own));
    }
    if (j == letters - 1) out[blockIdx.x] = kept[(2 * letters - 2) % 3][letters];
}

// A warp a pair, a lane two columns, whose left neighbours come by shuffles.
__global__ void edit_warp(const char* a, const char* b, int* out) {
    const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    a += pair * letters, b += pair * letters;
    const char b0 = b[2 * lane], b1 = b[2 * lane + 1];
    int up0 = 2 * lane + 1, up1 = 2 * lane + 2, corner = 2 * lane;
    for (int d = 0; d < letters + 31; ++d) {
        int left = __shfl_up_sync(~0u, up1, 1);
        if (lane == 0) left = d + 1;
        const int i = d - lane;
        if (i < 0 || i >= letters) continue;
        const int value = min(min(left, up0) + 1, corner + (a[i] != b0));
        up1 = min(min(value, up1) + 1, up0 + (a[i] != b1));
        up0 = value, corner = left;
    }
    if (lane == 31) out[pair] = up1;
}

void edits() {
    const int n = 1 << 14;
    const auto a = filled<char>(n * letters, [](unsigned i) { return 'a' + hash(i) % 4; });
    const auto b = filled<char>(n * letters, [&](unsigned i) { return hash(~i) % 3 ? a[i] : 'a' + hash(~i) % 4; });
    char *da = to_device(a), *db = to_device(b);
    int* out = empty_array<int>(n);
    const auto check = [&](std::size_t i) { return edit(&a[i * letters], &b[i * letters]); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^14 of 64", out, n, check, launch); };
    show("edit: thread a pair", [&] { edit_thread<<<n / 64, 64>>>(da, db, out); });
    show("edit: diagonals", [&] { edit_diagonals<<<n, letters>>>(da, db, out); });
    show("edit: warp a pair", [&] { edit_warp<<<n / 4, 128>>>(da, db, out); });
    for (void* each : {(void*)da, (void*)db, (void*)out}) CHECK(cudaFree(each));
}

// --- American puts by binomial trees of 255 steps

constexpr int leaves = 256;
constexpr float up = 1.01f, half_discount = 0.4999f;

__host__ __device__ inline float leaf_price(int k) { return 100 * powf(up, static_cast<float>(2 * k - leaves + 1)); }

__host__ __device__ inline float worth(float low, float high, float strike, float price) {
    return fmaxf(half_discount * (low + high), strike - price);
}

__host__ __device__ inline float tree(float strike) {
    float v[leaves];
    for (int k = 0; k < leaves; ++k) v[k] = fmaxf(strike - leaf_price(k), 0);
    float lowest = leaf_price(0);
    for (int step = leaves - 2; step >= 0; --step) {
        float price = lowest *= up;
        for (int k = 0; k <= step; ++k, price *= up * up) v[k] = worth(v[k], v[k + 1], strike, price);
    }
    return v[0];
}

__global__ void tree_thread(const float* strikes, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tree(strikes[i]);
}

__global__ void tree_block(const float* strikes, float* out) {
    __shared__ float v[leaves];
    const float strike = strikes[blockIdx.x];
    const int k = threadIdx.x;
    float price = leaf_price(k), own = fmaxf(strike - price, 0);
    for (int step = leaves - 2; step >= 0; --step) {
        v[k] = own;
        __syncthreads();
        if (k <= step) own = worth(own, v[k + 1], strike, price *= up);
        __syncthreads();
    }
    if (k == 0) out[blockIdx.x] = own;
}

// A warp an option, eight leaves a lane.
__global__ void tree_warp(const float* strikes, float* out) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float strike = strikes[i];
    float v[9], price[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) price[k] = leaf_price(lane * 8 + k), v[k] = fmaxf(strike - price[k], 0);
    for (int step = leaves - 2; step >= 0; --step) {
        v[8] = __shfl_down_sync(~0u, v[0], 1);
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = worth(v[k], v[k + 1], strike, price[k] *= up);
    }
    if (lane == 0) out[i] = v[0];
}

void trees() {
    const int n = 4096;
    const auto strikes = filled<float>(n, [](unsigned i) { return 80 + 40 * random_float(i); });
    float *ds = to_device(strikes), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) { return tree(strikes[i]); };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096 of 255 steps", out, n, check, launch); };
    show("tree: thread an option", [&] { tree_thread<<<n / 32, 32>>>(ds, out); });
    show("tree: block an option", [&] { tree_block<<<n, leaves>>>(ds, out); });
    show("tree: warp an option", [&] { tree_warp<<<n / 8, 256>>>(ds, out); });
    for (float* each : {ds, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    power();
    polynomial();
    crc();
    edits();
    trees();
    return wrong;
}
