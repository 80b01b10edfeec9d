// Tables in constant memory that a loop goes through: by their size, by whether the compiler knows that all lanes want
// the same (ULDC) or not (LDC), by warps, and by how much is computed with each row.
#include "timing.cuh"

namespace {

constexpr int sms = 132;
__constant__ float4 table[2048];

template <int work>
__device__ float use(float4 row, float x) {
    float a = row.x, b = row.y;
#pragma unroll
    for (int i = 0; i < work; ++i) a = a * x + row.z, b = b * x + row.w;
    return a + b;
}

template <int work, bool uniform>
__global__ void go_through(int rows, int turns, const int* zeros, float* sum) {
    float total = 0;
    const float x = threadIdx.x;
    const int own = uniform ? 0 : zeros[threadIdx.x];
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll 4
        for (int i = 0; i < rows; ++i) total += use<work>(table[i + own], x);
    if (total == 12345) *sum = total;
}

// A polynomial of each thread's own x: each word goes into one instruction, next to registers.
__global__ void polynomial(int rows, int turns, const int*, float* sum) {
    float a = 0, b = 0;
    const float x = threadIdx.x;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll 4
        for (int i = 0; i < rows; ++i) {
            a = (a * x + table[i].x) * x + table[i].y;
            b = (b * x + table[i].z) * x + table[i].w;
        }
    if (a + b == 12345) *sum = a;
}

// A filter: a word of the table for each of the thread's neighbours.
__global__ void filter(int rows, int turns, const int* values, float* sum) {
    float a = 0;
    const float* words = &table[0].x;
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll 4
        for (int i = 0; i < rows * 4; ++i) a += words[i] * static_cast<float>(values[threadIdx.x + i]);
        values += turn % 2 == 0 ? 32 : -32;
    }
    if (a == 12345) *sum = a;
}

// What is done with a row depends on it, so warps part from each other.
__global__ void go_apart(int rows, int turns, const int*, float* sum) {
    float most = 0;
    const float x = blockIdx.x * 8 + threadIdx.x % 16, y = threadIdx.x / 16;
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll 4
        for (int i = 0; i < rows; ++i) {
            const float4 row = table[i];
            const float dx = row.x - x, dy = row.y - y, rest = row.w * row.w - dx * dx - dy * dy;
            if (rest > 0) most = fmaxf(most, row.z + sqrtf(rest));
        }
    if (most == 12345) *sum = most;
}

void show(const char* how, int rows, int warps, int turns, double ms) {
    char what[100], size[60];
    std::snprintf(what, sizeof what, "%s, %d bytes, %d warps", how, rows * 16, warps);
    std::snprintf(size, sizeof size, "%d rows an SM", warps * rows * turns);
    row(what, size, ms);
}

}  // namespace

int main() {
    int* zeros;
    float* out;
    CHECK(cudaMalloc(&zeros, 65536));
    CHECK(cudaMemset(zeros, 0, 65536));
    CHECK(cudaMalloc(&out, 4));
    std::vector<float4> rows(2048);
    unsigned at = 1;
    const auto next = [&] { return ((at = at * 1664525u + 1013904223u) >> 8) / 16777216.f; };
    for (float4& r : rows) r = {next() * 1000, next() * 16, next() * 500, next() * 30};
    CHECK(cudaMemcpyToSymbol(table, rows.data(), sizeof table));
    for (const int warps : {32, 64})
        for (const int count : {16, 120, 512}) {
            const int turns = 512 / count < 1 ? 1 : 512 / count;
            const auto run = [&](const char* how, auto kernel) {
                show(how, count, warps, turns,
                     kernel_ms([&] { kernel<<<warps / 8 * sms, 256>>>(count, turns, zeros, out); }));
            };
            run("each word into one sum", polynomial);
            run("rows, 2 sums", go_through<1, true>);
            run("rows, 32 sums", go_through<16, true>);
            run("rows of each lane, 2 sums", go_through<1, false>);
            run("rows that decide", go_apart);
            run("words beside an array", filter);
        }
    CHECK(cudaFree(zeros));
    CHECK(cudaFree(out));
}
