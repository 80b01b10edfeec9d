// Fourth held-out set: families of bits, of bytes and of hashes.
#include "families.cuh"

namespace {

// --- SHA-256 of one piece of 64 bytes each (no padding): 2^17 of them

constexpr int messages = 1 << 17;

#define SHA_CONSTANTS                                                                                               \
    {                                                                                                               \
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, \
            0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1,         \
            0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,         \
            0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,         \
            0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1,         \
            0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,         \
            0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee,         \
            0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2                      \
    }
constexpr unsigned host_constants[64] = SHA_CONSTANTS;
__constant__ unsigned constants[64] = SHA_CONSTANTS;

__host__ __device__ inline unsigned turned(unsigned x, int by) { return x >> by | x << (32 - by); }

__host__ __device__ inline unsigned scheduled(unsigned a, unsigned b, unsigned c, unsigned d) {
    return a + (turned(b, 7) ^ turned(b, 18) ^ b >> 3) + c + (turned(d, 17) ^ turned(d, 19) ^ d >> 10);
}

struct Digest {
    unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    unsigned e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;

    __host__ __device__ void round(unsigned word) {
        const unsigned t = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + word;
        const unsigned u = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }

    // The first half of the digest.
    __host__ __device__ uint4 result() const {
        return make_uint4(a + 0x6a09e667, b + 0xbb67ae85, c + 0x3c6ef372, d + 0xa54ff53a);
    }
};

// As the standard has it: 64 words first, then 64 rounds.
__host__ __device__ inline uint4 sha_of(const unsigned* message, const unsigned* constant) {
    unsigned words[64];
    Digest digest;
    for (int t = 0; t < 16; ++t) words[t] = message[t];
    for (int t = 16; t < 64; ++t) words[t] = scheduled(words[t - 16], words[t - 15], words[t - 7], words[t - 2]);
    for (int t = 0; t < 64; ++t) digest.round(constant[t] + words[t]);
    return digest.result();
}

__global__ void sha_array(const unsigned* in, uint4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sha_of(in + i * 16, constants);
}

// The last 16 words in registers; all rounds are unrolled.
__device__ inline uint4 sha_registers(unsigned (&words)[16]) {
    Digest digest;
#pragma unroll
    for (int t = 0; t < 64; ++t) {
        if (t >= 16)
            words[t % 16] = scheduled(words[t % 16], words[(t + 1) % 16], words[(t + 9) % 16], words[(t + 14) % 16]);
        digest.round(constants[t] + words[t % 16]);
    }
    return digest.result();
}

__global__ void sha_unrolled(const uint4* in, uint4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned words[16];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const uint4 four = in[i * 4 + k];
        words[k * 4] = four.x, words[k * 4 + 1] = four.y, words[k * 4 + 2] = four.z, words[k * 4 + 3] = four.w;
    }
    out[i] = sha_registers(words);
}

// Word k of all messages, then word k + 1.
__global__ void sha_woven(const unsigned* in, uint4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned words[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) words[k] = in[k * messages + i];
    out[i] = sha_registers(words);
}

void sha() {
    const auto in = filled<unsigned>(messages * 16, hash);
    const auto woven =
        filled<unsigned>(messages * 16, [&](unsigned i) { return in[i % messages * 16 + i / messages]; });
    unsigned *din = to_device(in), *dwoven = to_device(woven), *out = empty_array<unsigned>(messages * 4);
    const auto check = [&](std::size_t i) {
        const uint4 digest = sha_of(in.data() + i / 4 * 16, host_constants);
        return i % 4 == 0 ? digest.x : i % 4 == 1 ? digest.y : i % 4 == 2 ? digest.z : digest.w;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^17", out, messages * 4, check, launch); };
    show("sha: array", [&] { sha_array<<<messages / 256, 256>>>(din, (uint4*)out); });
    show("sha: unrolled", [&] { sha_unrolled<<<messages / 256, 256>>>((uint4*)din, (uint4*)out); });
    show("sha: woven", [&] { sha_woven<<<messages / 128, 128>>>(dwoven, (uint4*)out); });
    for (unsigned* each : {din, dwoven, out}) CHECK(cudaFree(each));
}

// --- base64 of 12 MiB: three bytes become four characters

constexpr int triples = 4 << 20;

#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
__constant__ char letters[65] = BASE64;

// By comparing, without a table.
__device__ inline unsigned letter(unsigned x) {
    return x + (x < 26 ? 'A' : x < 52 ? 'a' - 26 : x < 62 ? '0' - 52 : x == 62 ? '+' - 62 : '/' - 63);
}

__device__ inline unsigned four_letters(unsigned bits) {
    return letter(bits >> 18) | letter(bits >> 12 & 63) << 8 | letter(bits >> 6 & 63) << 16 | letter(bits & 63) << 24;
}

__global__ void base64_constant(const unsigned char* in, char* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = in[i * 3], b = in[i * 3 + 1], c = in[i * 3 + 2];
    out[i * 4] = letters[a >> 2];
    out[i * 4 + 1] = letters[(a & 3) << 4 | b >> 4];
    out[i * 4 + 2] = letters[(b & 15) << 2 | c >> 6];
    out[i * 4 + 3] = letters[c & 63];
}

__global__ void base64_shared(const unsigned char* in, uchar4* out) {
    __shared__ unsigned char table[64], bytes[768];
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < 64) table[threadIdx.x] = letters[threadIdx.x];
    for (int k = threadIdx.x; k < 768; k += 256) bytes[k] = in[blockIdx.x * 768 + k];
    __syncthreads();
    const unsigned a = bytes[threadIdx.x * 3], b = bytes[threadIdx.x * 3 + 1], c = bytes[threadIdx.x * 3 + 2];
    out[i] = make_uchar4(table[a >> 2], table[(a & 3) << 4 | b >> 4], table[(b & 15) << 2 | c >> 6], table[c & 63]);
}

// Three words become four.
__global__ void base64_words(const unsigned* in, uint4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = in[i * 3], b = in[i * 3 + 1], c = in[i * 3 + 2];
    out[i] = make_uint4(four_letters(__byte_perm(a, 0, 0x4012)), four_letters(__byte_perm(a, b, 0x7345) & 0xffffff),
                        four_letters(__byte_perm(b, c, 0x7234) & 0xffffff), four_letters(__byte_perm(c, 0, 0x4123)));
}

void base64() {
    const auto in = filled<unsigned char>(triples * 3, [](unsigned i) { return hash(i) % 256; });
    unsigned char* din = to_device(in);
    char* out = empty_array<char>(triples * 4);
    const auto check = [&](std::size_t i) {
        const unsigned char* p = in.data() + i / 4 * 3;
        return BASE64[(p[0] << 16 | p[1] << 8 | p[2]) >> (18 - i % 4 * 6) & 63];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "12 MiB", out, triples * 4, check, launch); };
    show("base64: constant", [&] { base64_constant<<<triples / 256, 256>>>(din, out); });
    show("base64: shared", [&] { base64_shared<<<triples / 256, 256>>>(din, (uchar4*)out); });
    show("base64: words", [&] { base64_words<<<triples / 4 / 256, 256>>>((unsigned*)din, (uint4*)out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- how alike 1024 fingerprints of 1024 bits are to 1024 others: bits in both over bits in either

constexpr int prints = 1024, words = 32;

__device__ inline float alike(int both, int either) { return static_cast<float>(both) / either; }

__global__ void alike_global(const unsigned* a, const unsigned* b, float* out) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    int both = 0, either = 0;
    for (int k = 0; k < words; ++k) {
        const unsigned x = a[i * words + k], y = b[j * words + k];
        both += __popc(x & y), either += __popc(x | y);
    }
    out[i * prints + j] = alike(both, either);
}

// 32 x 32 pairs a block, by 32 x 8 threads.
__global__ void alike_shared(const unsigned* a, const unsigned* b, float* out) {
    __shared__ unsigned left[32][words], right[32][words + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    for (int k = y; k < 32; k += 8) {
        left[k][x] = a[(blockIdx.y * 32 + k) * words + x];
        right[k][x] = b[(blockIdx.x * 32 + k) * words + x];
    }
    __syncthreads();
    int both[4] = {}, either[4] = {};
    for (int k = 0; k < words; ++k) {
        const unsigned other = right[x][k];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            both[r] += __popc(left[y + r * 8][k] & other);
            either[r] += __popc(left[y + r * 8][k] | other);
        }
    }
    for (int r = 0; r < 4; ++r)
        out[(blockIdx.y * 32 + y + r * 8) * prints + blockIdx.x * 32 + x] = alike(both[r], either[r]);
}

// A warp a pair, a lane a word: one pair after another for each row.
__global__ void alike_warp(const unsigned* a, const unsigned* b, float* out) {
    const int lane = threadIdx.x % 32, i = blockIdx.y * 8 + threadIdx.x / 32, first = blockIdx.x * 32;
    const unsigned own = a[i * words + lane];
    float result = 0;
    for (int k = 0; k < 32; ++k) {
        const unsigned other = b[(first + k) * words + lane];
        const unsigned counts = __reduce_add_sync(~0u, __popc(own & other) << 16 | __popc(own | other));
        if (lane == k) result = alike(counts >> 16, counts & 0xffff);
    }
    out[i * prints + first + lane] = result;
}

void similarity() {
    const int n = prints * prints;
    const auto a = filled<unsigned>(prints * words, [](unsigned i) { return hash(i) & hash(i * 3); });
    const auto b = filled<unsigned>(prints * words, [](unsigned i) { return hash(~i) & hash(i * 5); });
    unsigned *da = to_device(a), *db = to_device(b);
    float* out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        int both = 0, either = 0;
        for (int k = 0; k < words; ++k) {
            const unsigned x = a[i / prints * words + k], y = b[i % prints * words + k];
            both += __builtin_popcount(x & y), either += __builtin_popcount(x | y);
        }
        return static_cast<double>(both) / either;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "1024^2 of 1024", out, n, check, launch); };
    show("alike: global", [&] { alike_global<<<dim3(prints / 16, prints / 16), dim3(16, 16)>>>(da, db, out); });
    show("alike: shared", [&] { alike_shared<<<dim3(prints / 32, prints / 32), dim3(32, 8)>>>(da, db, out); });
    show("alike: warp", [&] { alike_warp<<<dim3(prints / 32, prints / 8), 256>>>(da, db, out); });
    for (void* each : {(void*)da, (void*)db, (void*)out}) CHECK(cudaFree(each));
}

// --- a Bloom filter of 2^20 keys: four of 2^23 bits for each

constexpr int keys = 1 << 20, filter_bits = 1 << 23;

__host__ __device__ inline unsigned filter_bit(unsigned key, unsigned which) {
    unsigned x = key * 0x9e3779b1u + which * 0x85ebca6bu;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return (x ^ x >> 13) % filter_bits;
}

__global__ void bloom_always(const unsigned* key, unsigned* filter) {
    const unsigned own = key[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 0; k < 4; ++k) {
        const unsigned bit = filter_bit(own, k);
        atomicOr(filter + bit / 32, 1u << bit % 32);
    }
}

// One lane of a warp for each of four bits of eight keys.
__global__ void bloom_lanes(const unsigned* key, unsigned* filter) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned bit = filter_bit(key[i / 4], i % 4);
    atomicOr(filter + bit / 32, 1u << bit % 32);
}

// A block builds one part of 2^18 bits in shared memory (32 KiB) from all keys of its share.
__global__ void bloom_parts(const unsigned* key, unsigned* filter) {
    constexpr unsigned part = 1 << 18;
    __shared__ unsigned bits[part / 32];
    for (int i = threadIdx.x; i < part / 32; i += blockDim.x) bits[i] = 0;
    __syncthreads();
    const int share = keys / gridDim.y;
    for (int i = blockIdx.y * share + threadIdx.x; i < (blockIdx.y + 1) * share; i += blockDim.x)
        for (int k = 0; k < 4; ++k) {
            const unsigned bit = filter_bit(key[i], k);
            if (bit / part == blockIdx.x) atomicOr(bits + bit % part / 32, 1u << bit % 32);
        }
    __syncthreads();
    for (int i = threadIdx.x; i < part / 32; i += blockDim.x)
        if (bits[i] != 0) atomicOr(filter + blockIdx.x * (part / 32) + i, bits[i]);
}

void bloom() {
    const int n = filter_bits / 32;
    const auto key = filled<unsigned>(keys, hash);
    std::vector<unsigned> filter(n);
    for (const unsigned each : key)
        for (int k = 0; k < 4; ++k) filter[filter_bit(each, k) / 32] |= 1u << filter_bit(each, k) % 32;
    unsigned *dk = to_device(key), *out = empty_array<unsigned>(n);
    const auto check = [&](std::size_t i) { return filter[i / 4] >> i % 4 * 8 & 255; };  // byte after byte
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^20 in 2^23", (unsigned char*)out, n * 4, check, launch);
    };
    show("bloom: always", [&] { bloom_always<<<keys / 256, 256>>>(dk, out); });
    show("bloom: lanes", [&] { bloom_lanes<<<keys * 4 / 256, 256>>>(dk, out); });
    show("bloom: parts", [&] { bloom_parts<<<dim3(filter_bits >> 18, 16), 512>>>(dk, out); });
    for (unsigned* each : {dk, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    sha();
    base64();
    similarity();
    bloom();
    return wrong;
}
