// Third held-out set: families of whole numbers, bytes and bits.
#include "families.cuh"

namespace {

__global__ void empty() {}

// --- floats to signed bytes, one scale for each group of 64

constexpr int group = 64;

__host__ __device__ inline signed char quantised(float x, float scale) {
    return static_cast<signed char>(lrintf(x / scale));
}

__global__ void quantise_thread(const float* x, signed char* q, float* scales) {
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    float most = 0;
    for (int k = 0; k < group; ++k) most = fmaxf(most, fabsf(x[g * group + k]));
    const float scale = most / 127;
    for (int k = 0; k < group; ++k) q[g * group + k] = quantised(x[g * group + k], scale);
    scales[g] = scale;
}

__global__ void quantise_warp(const float* x, signed char* q, float* scales) {
    const int g = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, at = g * group + lane;
    const float low = x[at], high = x[at + 32];
    const float scale = warp_max(fmaxf(fabsf(low), fabsf(high))) / 127;
    q[at] = quantised(low, scale), q[at + 32] = quantised(high, scale);
    if (lane == 0) scales[g] = scale;
}

// Half a warp a group, four elements a lane.
__global__ void quantise_vectors(const float4* x, char4* q, float* scales) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 v = x[i];
    float most = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int d = 8; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    const float scale = most / 127;
    q[i] = make_char4(quantised(v.x, scale), quantised(v.y, scale), quantised(v.z, scale), quantised(v.w, scale));
    if (i % 16 == 0) scales[i / 16] = scale;
}

void quantise() {
    const int n = 1 << 24, groups = n / group;
    const auto x = filled<float>(n, [](unsigned i) { return random_float(i) * 6 - 3; });
    float *dx = to_device(x), *scales = empty_array<float>(groups);
    signed char* out = empty_array<signed char>(n);
    const auto check = [&](std::size_t i) {
        float most = 0;
        for (std::size_t k = 0; k < group; ++k) most = std::fmax(most, std::fabs(x[i / group * group + k]));
        return quantised(x[i], most / 127);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^24 by 64", out, n, check, launch); };
    show("quantise: thread", [&] { quantise_thread<<<groups / 128, 128>>>(dx, out, scales); });
    show("quantise: warp", [&] { quantise_warp<<<groups / 8, 256>>>(dx, out, scales); });
    show("quantise: vectors", [&] { quantise_vectors<<<n / 1024, 256>>>((float4*)dx, (char4*)out, scales); });
    for (void* each : {(void*)dx, (void*)scales, (void*)out}) CHECK(cudaFree(each));
}

// --- how many primes are in each 32 odd numbers

constexpr int segment = 8192;  // odd numbers a block

__global__ void sieve_trial(const int* primes, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, number = 2 * i + 1;
    bool is_prime = i > 0;
    for (int k = 0; primes[k] * primes[k] <= number; ++k)
        if (number % primes[k] == 0) {
            is_prime = false;
            break;
        }
    const unsigned found = __ballot_sync(~0u, is_prime);
    if (threadIdx.x % 32 == 0) out[i / 32] = __popc(found);
}

// The place of the first multiple of p from p * p on that is at or after `start`.
__device__ inline int first_multiple(int p, int start) {
    const int square = (p * p - 1) / 2;
    return square >= start ? square : start + (p - (start - (p - 1) / 2) % p) % p;
}

// A block a segment of bits in shared memory, a warp a prime.
__global__ void sieve_shared(const int* primes, int count, int* out) {
    __shared__ unsigned composite[segment / 32];
    composite[threadIdx.x] = blockIdx.x == 0 && threadIdx.x == 0;  // 1 is no prime
    __syncthreads();
    const int start = blockIdx.x * segment, lane = threadIdx.x % 32;
    for (int k = threadIdx.x / 32; k < count; k += 8) {
        const int p = primes[k];
        for (int i = first_multiple(p, start) - start + lane * p; i < segment; i += 32 * p)
            atomicOr(&composite[i / 32], 1u << i % 32);
    }
    __syncthreads();
    out[start / 32 + threadIdx.x] = 32 - __popc(composite[threadIdx.x]);
}

// A thread keeps the bits of its 32 numbers in a register and looks at all primes.
__global__ void sieve_registers(const int* primes, int count, int* out) {
    const int word = blockIdx.x * blockDim.x + threadIdx.x, start = word * 32;
    unsigned composite = word == 0;
    for (int k = 0; k < count; ++k)
        for (int p = primes[k], i = first_multiple(p, start) - start; i < 32; i += p) composite |= 1u << i;
    out[word] = 32 - __popc(composite);
}

void sieve() {
    const int n = 1 << 19, words = n / 32;
    std::vector<char> composite(n);
    composite[0] = 1;
    std::vector<int> primes;
    for (int i = 1, p = 3; i < n; ++i, p += 2)
        if (!composite[i] && p < 1100) {
            primes.push_back(p);
            for (int k = (p * p - 1) / 2; k < n; k += p) composite[k] = 1;
        }
    int *dprimes = to_device(primes), *out = empty_array<int>(words), count = static_cast<int>(primes.size()) - 1;
    const auto check = [&](std::size_t i) {
        return 32 - std::count(composite.begin() + i * 32, composite.begin() + i * 32 + 32, 1);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^19 odd", out, words, check, launch); };
    show("sieve: trial", [&] { sieve_trial<<<n / 256, 256>>>(dprimes, out); });
    show("sieve: shared", [&] { sieve_shared<<<n / segment, segment / 32>>>(dprimes, count, out); });
    show("sieve: registers", [&] { sieve_registers<<<words / 64, 64>>>(dprimes, count, out); });
    for (int* each : {dprimes, out}) CHECK(cudaFree(each));
}

// --- steps of Collatz's sequences to 1

__host__ __device__ inline int collatz_steps(long long number) {
    int steps = 0;
    for (; number != 1; ++steps) number = number % 2 ? 3 * number + 1 : number / 2;
    return steps;
}

__global__ void collatz_plain(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = collatz_steps(i + 1);
}

__global__ void collatz_odd(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long number = i + 1;
    int steps = __ffsll(number) - 1;
    number >>= steps;
    while (number != 1) {
        number = 3 * number + 1;
        const int zeros = __ffsll(number) - 1;
        number >>= zeros;
        steps += zeros + 1;
    }
    out[i] = steps;
}

// A lane that is done goes on with its next number and does not wait for the others.
__global__ void collatz_refill(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    long long number = i + 1;
    while (i < n) {
        if (number == 1) {
            out[i] = steps;
            i += gridDim.x * blockDim.x;
            number = i + 1, steps = 0;
        } else {
            number = number & 1 ? 3 * number + 1 : number >> 1;
            ++steps;
        }
    }
}

void collatz() {
    const int n = 1 << 18;
    int* out = empty_array<int>(n);
    const auto check = [&](std::size_t i) { return collatz_steps(static_cast<long long>(i) + 1); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^18", out, n, check, launch); };
    show("collatz: plain", [&] { collatz_plain<<<n / 256, 256>>>(out); });
    show("collatz: odd", [&] { collatz_odd<<<n / 256, 256>>>(out); });
    show("collatz: refill", [&] { collatz_refill<<<128, 128>>>(out, n); });
    CHECK(cudaFree(out));
}

// --- queens on a board of 13, by the places of the first three: a thread has one choice of them

constexpr int board = 13, starts = board * board * board;
constexpr unsigned full = (1u << board) - 1;

struct Queens {
    unsigned columns, left, right;  // what is attacked in the next row
};

__host__ __device__ inline Queens put(Queens q, unsigned bit) {
    return {q.columns | bit, (q.left | bit) << 1, (q.right | bit) >> 1};
}

__host__ __device__ inline unsigned free_places(Queens q) { return full & ~(q.columns | q.left | q.right); }

__host__ __device__ inline Queens first_rows(int start) {
    Queens q{};
    for (int k = 0; k < 3; ++k, start /= board) {
        if (~free_places(q) >> start % board & 1) return {full, full, full};
        q = put(q, 1u << start % board);
    }
    return q;
}

__host__ __device__ int count_queens(Queens q) {
    if (q.columns == full) return q.left != full;
    int count = 0;
    for (unsigned free = free_places(q); free; free &= free - 1) count += count_queens(put(q, free & -free));
    return count;
}

__global__ void queens_recursive(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < starts) out[i] = count_queens(first_rows(i));
}

// Element `depth` of the stack is at depth * stride.
__device__ inline int count_by_stack(Queens first, Queens* stack, unsigned* free, int stride) {
    int depth = 0, count = 0;
    stack[0] = first, free[0] = free_places(first);
    while (depth >= 0) {
        const unsigned left = free[depth * stride];
        if (left == 0) {
            --depth;
            continue;
        }
        free[depth * stride] = left & (left - 1);
        const Queens next = put(stack[depth * stride], left & -left);
        if (next.columns == full) {
            ++count;
        } else {
            ++depth;
            stack[depth * stride] = next, free[depth * stride] = free_places(next);
        }
    }
    return count;
}

__global__ void queens_local(int* out) {
    Queens stack[board];
    unsigned free[board];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < starts) out[i] = count_by_stack(first_rows(i), stack, free, 1);
}

__global__ void queens_shared(int* out) {
    __shared__ Queens stack[board - 3][64];
    __shared__ unsigned free[board - 3][64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = threadIdx.x;
    if (i < starts) out[i] = count_by_stack(first_rows(i), &stack[0][k], &free[0][k], 64);
}

void queens() {
    int* out = empty_array<int>(starts);
    const auto check = [](std::size_t i) { return count_queens(first_rows(static_cast<int>(i))); };
    const auto show = [&](const char* what, auto launch) { measure(what, "13 x 13", out, starts, check, launch); };
    show("queens: recursive", [&] { queens_recursive<<<starts / 64 + 1, 64>>>(out); });
    show("queens: local", [&] { queens_local<<<starts / 64 + 1, 64>>>(out); });
    show("queens: shared", [&] { queens_shared<<<starts / 64 + 1, 64>>>(out); });
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    quantise();
    sieve();
    collatz();
    queens();
    return wrong;
}
