// What tensor cores give for fixed pseudo-random operands: a line is the hash of 2,048 sums, or where wmma has put an
// element of a matrix. matrix_sums.h100.txt has digests of what an H100 printed; the virtual GPU must print the same.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <cstdio>
#include <vector>

using std::uint32_t;
using std::uint64_t;
using namespace nvcuda;

// Registers of one lane: a, b and c; the accumulator comes back.
struct Operands {
    uint32_t a[4], b[2], c[4];
};

#define FLOAT_SUM(shape_and_types)                                                                             \
    asm volatile("mma.sync.aligned." shape_and_types " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                              \
                 : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0]), "r"(o.b[1]), "r"(o.c[0]),  \
                   "r"(o.c[1]), "r"(o.c[2]), "r"(o.c[3]))

struct F16ToF32 {
    static __device__ void run(const Operands& o, uint32_t* d) { FLOAT_SUM("m16n8k16.row.col.f32.f16.f16.f32"); }
};
struct Bf16ToF32 {
    static __device__ void run(const Operands& o, uint32_t* d) { FLOAT_SUM("m16n8k16.row.col.f32.bf16.bf16.f32"); }
};
struct Tf32ToF32 {
    static __device__ void run(const Operands& o, uint32_t* d) { FLOAT_SUM("m16n8k8.row.col.f32.tf32.tf32.f32"); }
};
struct S8ToS32 {
    static __device__ void run(const Operands& o, uint32_t* d) {
        FLOAT_SUM("m16n8k32.row.col.satfinite.s32.s8.s8.s32");
    }
};
struct F16ToF16 {
    static __device__ void run(const Operands& o, uint32_t* d) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};"
                     : "=r"(d[0]), "=r"(d[1])
                     : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0]), "r"(o.b[1]), "r"(o.c[0]),
                       "r"(o.c[1]));
        d[2] = d[3] = 0;
    }
};

template <class Instruction>
__global__ void multiply(const Operands* in, uint32_t* out) {
    const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
    Instruction::run(in[lane], out + 4 * lane);
}

template <class Use>
__global__ void places(const half* matrix, int* out) {
    wmma::fragment<Use, 16, 16, 16, half, wmma::row_major> fragment;
    wmma::load_matrix_sync(fragment, matrix, 16);
    for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = static_cast<int>(__half2float(fragment.x[i]));
}

uint64_t state = 88172645463325252u;

uint32_t next() {  // xorshift
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 16);
}

enum Kind { any_bits, near_each_other, with_zeros_and_subnormals, far_apart, kinds };

uint32_t number(int kind, int bits, int exponent_bits) {
    const int mantissa = bits - 1 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t all = next() & (bits == 32 ? ~0u : (1u << bits) - 1);
    if (kind == any_bits) return all;
    const uint32_t fraction = all & ((1u << mantissa) - 1), sign = all >> (bits - 1) << (bits - 1);
    const uint32_t exponent = kind == far_apart ? next() % (2 * bias - 1) + 1 : bias - 8 + next() % 16;
    if (kind == with_zeros_and_subnormals && next() % 4 == 0) return next() % 2 ? sign : sign | fraction;
    return sign | exponent << mantissa | fraction;
}

uint32_t word(int kind, int bits, int exponent_bits) {
    if (bits == 32) return number(kind, 32, 8);
    const uint32_t low = number(kind, 16, exponent_bits);
    return low | number(kind, 16, exponent_bits) << 16;
}

struct Format {
    int bits, exponent_bits;
};

template <class Instruction>
void sums(const char* name, Format factor, Format sum) {
    constexpr int blocks = 256, blocks_a_line = 16;
    for (int kind = 0; kind < kinds; ++kind) {
        std::vector<Operands> in(32 * blocks);
        std::vector<uint32_t> out(4 * in.size());
        for (Operands& o : in) {
            for (uint32_t& a : o.a) a = word(kind, factor.bits, factor.exponent_bits);
            for (uint32_t& b : o.b) b = word(kind, factor.bits, factor.exponent_bits);
            const bool nothing = kind == near_each_other && next() % 2 == 0;
            for (uint32_t& c : o.c) c = nothing ? 0 : word(kind, sum.bits, sum.exponent_bits);
        }
        Operands* device_in = nullptr;
        uint32_t* device_out = nullptr;
        cudaMalloc(&device_in, in.size() * sizeof(Operands));
        cudaMalloc(&device_out, 4 * out.size());
        cudaMemcpy(device_in, in.data(), in.size() * sizeof(Operands), cudaMemcpyHostToDevice);
        multiply<Instruction><<<blocks, 32>>>(device_in, device_out);
        cudaMemcpy(out.data(), device_out, 4 * out.size(), cudaMemcpyDeviceToHost);
        for (std::size_t i = 0; i < out.size();) {
            uint64_t hash = 14695981039346656037u;  // FNV-1a
            for (int n = 0; n < 128 * blocks_a_line; ++n) hash = (hash ^ out[i++]) * 1099511628211u;
            std::printf("%s kind %d before %zu: %016llx\n", name, kind, i, static_cast<unsigned long long>(hash));
        }
        cudaFree(device_in);
        cudaFree(device_out);
    }
}

template <class Use>
void print_places(const char* name) {
    std::vector<half> matrix(256);
    std::vector<int> out(512);
    for (int i = 0; i < 256; ++i) matrix[i] = __float2half(static_cast<float>(i));
    half* device_matrix = nullptr;
    int* device_out = nullptr;
    cudaMalloc(&device_matrix, 512);
    cudaMalloc(&device_out, 2048);
    cudaMemcpy(device_matrix, matrix.data(), 512, cudaMemcpyHostToDevice);
    places<Use><<<1, 32>>>(device_matrix, device_out);
    cudaMemcpy(out.data(), device_out, 2048, cudaMemcpyDeviceToHost);
    for (int lane = 0; lane < 32; ++lane) {
        std::printf("%s lane %d:", name, lane);
        for (int i = 0; i < 16; ++i) std::printf(" %d", out[lane * 16 + i]);
        std::printf("\n");
    }
}

int main() {
    constexpr Format f16{16, 5}, bf16{16, 8}, f32{32, 8};
    sums<F16ToF32>("f16 f32", f16, f32);
    sums<Bf16ToF32>("bf16 f32", bf16, f32);
    sums<Tf32ToF32>("tf32 f32", f32, f32);
    sums<F16ToF16>("f16 f16", f16, f16);
    sums<S8ToS32>("s8 s32", f32, f32);
    print_places<wmma::matrix_a>("wmma a");
    print_places<wmma::matrix_b>("wmma b");
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
