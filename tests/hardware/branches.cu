// What loops and branches cost a warp and a multiprocessor: steps that wait for each other, behind branches that all
// lanes take, none, or some. tests/model/h100.md has what it printed.
#include <cstdint>

#include "timing.cuh"

namespace {

using Word = std::uint32_t;
constexpr int sms = 132, turns = 4096;

Word* out;

// By assembly, so that ptxas can neither shorten it nor put it under a predicate.
template <int steps>
__device__ Word work(Word value) {
#pragma unroll
    for (int i = 0; i < steps; ++i) asm volatile("mad.lo.u32 %0, %0, 5, 7;" : "+r"(value));
    return value;
}

enum class Kind { few, many, all, nobody, all_or_else, half, half_or_else, nested, leaving, by_data };

template <Kind kind>
__device__ Word turn(Word value, Word i, Word flag) {
    const bool odd = threadIdx.x % 2 != 0, one_of_four = threadIdx.x % 4 == 3;
    switch (kind) {
        case Kind::many:
            return work<24>(value);
        case Kind::all:
            if (flag != i) value = work<20>(value);
            break;
        case Kind::nobody:
            if (flag == i) value = work<20>(value);
            break;
        case Kind::all_or_else:
            value = flag == i ? work<20>(value) : work<20>(value) ^ 1;
            break;
        case Kind::half:
            if (odd) value = work<20>(value);
            break;
        case Kind::half_or_else:
            value = odd ? work<20>(value) : work<20>(value) ^ 1;
            break;
        case Kind::nested:
            if (odd) {
                value = work<20>(value);
                if (one_of_four) value = work<20>(value) ^ 3;
                value = work<4>(value);
            }
            break;
        case Kind::by_data:
            return (value >> 3) % 2 != 0 ? work<20>(value) : work<20>(value) ^ flag;
        default:
            break;
    }
    return work<4>(value);
}

template <Kind kind>
__global__ void go(int count, Word flag, Word* result) {
    Word value = threadIdx.x;
    const int own = kind == Kind::leaving ? count - static_cast<int>(threadIdx.x % 32) * count / 64 : count;
#pragma unroll 1
    for (int i = 0; i < own; ++i) value = turn<kind>(value, i, flag);
    result[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

template <Kind kind>
void rows_of(const char* what) {
    for (const int blocks : {1, sms})
        for (const int size : {32, 128, 256, 1024}) {
            char name[100];
            std::snprintf(name, sizeof name, "%s, %d blocks of %d", what, blocks, size);
            row(name, "", kernel_ms([&] { go<kind><<<blocks, size>>>(turns, ~0u, out); }));
        }
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&out, sms * 1024 * sizeof(Word)));
    rows_of<Kind::few>("4 steps a turn");
    rows_of<Kind::many>("24 steps a turn");
    rows_of<Kind::all>("an if of 20, taken by all");
    rows_of<Kind::nobody>("an if of 20, taken by none");
    rows_of<Kind::all_or_else>("if and else, all one side");
    rows_of<Kind::half>("an if of 20, half of the lanes");
    rows_of<Kind::half_or_else>("if and else, half of the lanes");
    rows_of<Kind::nested>("nested, half and a quarter");
    rows_of<Kind::leaving>("lanes leave one by one");
    rows_of<Kind::by_data>("a side by data");
    CHECK(cudaFree(out));
}
