// RIGHT: pitched memory, a loop unrolled by hand, the occupancy API with flags, registers asked from CUDA
#include "occupancy.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cmath>

inline int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

inline int warps_of(int threads) { return (threads + WARP_SIZE - 1) / WARP_SIZE; }

double thread_occupancy(const int* device, int block_threads) {
    if (block_threads < 1 || block_threads > device[THREADS_PER_BLOCK]) return 0;
    const int blocks = std::min(device[BLOCKS_PER_SM], device[THREADS_PER_SM] / block_threads);
    return static_cast<double>(blocks) * block_threads / device[THREADS_PER_SM];
}

double register_occupancy(const int* device, int block_threads, int registers) {
    const int registers_per_block = registers * block_threads;
    const int blocks = device[REGISTERS_PER_SM] / registers_per_block;
    const int most_warps = device[THREADS_PER_SM] / WARP_SIZE;
    const int resident_warps = std::min(most_warps, blocks * warps_of(block_threads));
    return static_cast<double>(resident_warps) / most_warps;
}

int resident_blocks(const int* device, int block_threads, int registers, int shared_bytes) {
    if (block_threads < 1 || block_threads > device[THREADS_PER_BLOCK]) return 0;
    if (shared_bytes > device[SHARED_BYTES_PER_BLOCK]) return 0;
    const int warps = warps_of(block_threads);
    const int registers_per_warp = round_up(registers * WARP_SIZE, device[REGISTER_UNIT]);
    if (registers_per_warp * round_up(warps, device[SUB_PARTITIONS]) > device[REGISTERS_PER_BLOCK]) return 0;

    int blocks = std::min(device[BLOCKS_PER_SM], device[THREADS_PER_SM] / WARP_SIZE / warps);

    const int warps_per_partition = device[REGISTERS_PER_SM] / device[SUB_PARTITIONS] / registers_per_warp;
    blocks = std::min(blocks, warps_per_partition * device[SUB_PARTITIONS] / warps);

    const int shared = round_up(shared_bytes + device[RESERVED_SHARED_BYTES], device[SHARED_UNIT_BYTES]);
    if (shared > 0) blocks = std::min(blocks, device[SHARED_BYTES_PER_SM] / shared);
    return blocks;
}

void query_limits(int* device) {
    int current;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&current));
    CHECK(cudaGetDeviceProperties(&properties, current));
    device[THREADS_PER_BLOCK] = properties.maxThreadsPerBlock;
    device[THREADS_PER_SM] = properties.maxThreadsPerMultiProcessor;
    device[BLOCKS_PER_SM] = properties.maxBlocksPerMultiProcessor;
    device[REGISTERS_PER_BLOCK] = properties.regsPerBlock;
    device[REGISTERS_PER_SM] = properties.regsPerMultiprocessor;
    device[SUB_PARTITIONS] = properties.major == 6 && properties.minor == 0 ? 2 : 4;
    device[REGISTER_UNIT] = 256;
    device[SHARED_BYTES_PER_BLOCK] = static_cast<int>(properties.sharedMemPerBlockOptin);
    device[SHARED_BYTES_PER_SM] = static_cast<int>(properties.sharedMemPerMultiprocessor);
    device[RESERVED_SHARED_BYTES] = static_cast<int>(properties.reservedSharedMemPerBlock);
    device[SHARED_UNIT_BYTES] = properties.major >= 8 ? 128 : 256;
}

int best_block(const int* device, int registers, int shared_bytes) {
    int best = 0, most_warps = 0;
    for (int threads = WARP_SIZE; threads <= device[THREADS_PER_BLOCK]; threads += WARP_SIZE) {
        const int warps = resident_blocks(device, threads, registers, shared_bytes) * warps_of(threads);
        if (warps > most_warps) most_warps = warps, best = threads;
    }
    return best;
}

int most_registers(const int* device, int block_threads, int blocks) {
    int registers = 255;
    while (registers > 0 && resident_blocks(device, block_threads, registers, 0) < blocks) --registers;
    return registers;
}

int power_of_four(int threads) {
    for (int power = 1 << 30; power > 1; power /= 4) {
        if (power <= threads) return power;
    }
    return 1;
}

struct TwoTiles {
    __host__ __device__ int operator()(int block_threads) const { return block_threads * int(sizeof(float2)); }
};

int requiredSM(int block_threads) { return TwoTiles()(block_threads); }

__constant__ int widths[2];  // of a tile, and of the part of it that is a multiple of four

__global__ void matmul_kernel(const float* A, const float* B, float* C, int k, int a_pitch, int b_pitch, int c_pitch) {
    extern __shared__ float tiles[];
    const int width = widths[0], fours = widths[1], x = threadIdx.x, y = threadIdx.y;
    float *const a_row = tiles + y * width, *const b_tile = tiles + width * width;
    const int column = blockIdx.x * width + x, row = blockIdx.y * width + y;
    float even = 0.0f, odd = 0.0f;
    for (int first = 0; first < k; first += width) {
        a_row[x] = A[row * a_pitch + first + x];
        b_tile[y * width + x] = B[(first + y) * b_pitch + column];
        __syncthreads();
        int i = 0;
        for (; i < fours; i += 4) {
            even += a_row[i] * b_tile[i * width + x];
            odd += a_row[i + 1] * b_tile[(i + 1) * width + x];
            even += a_row[i + 2] * b_tile[(i + 2) * width + x];
            odd += a_row[i + 3] * b_tile[(i + 3) * width + x];
        }
        for (; i < width; ++i) even += a_row[i] * b_tile[i * width + x];
        __syncthreads();
    }
    C[row * c_pitch + column] = even + odd;
}

static float* pitched(int rows, int columns, int* pitch, const float* source) {
    float* memory;
    size_t bytes;
    CHECK(cudaMallocPitch(&memory, &bytes, columns * sizeof(float), rows));
    if (source != nullptr) {
        const size_t row = columns * sizeof(float);
        CHECK(cudaMemcpy2D(memory, bytes, source, row, row, rows, cudaMemcpyHostToDevice));
    }
    *pitch = int(bytes / sizeof(float));
    return memory;
}

void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (m < 1 || k < 1 || n < 1) return;
    if (width < 1 || width > MAX_WIDTH || (width & (width - 1)) != 0) return;
    const int both[2] = {width, width / 4 * 4};
    CHECK(cudaMemcpyToSymbol(widths, both, sizeof both));
    int a_pitch, b_pitch, c_pitch;
    float* const d_A = pitched(m, k, &a_pitch, A);
    float* const d_B = pitched(k, n, &b_pitch, B);
    float* const d_C = pitched(m, n, &c_pitch, nullptr);
    matmul_kernel<<<dim3(n / width, m / width), dim3(width, width), requiredSM(width * width)>>>(
        d_A, d_B, d_C, k, a_pitch, b_pitch, c_pitch);
    CHECK(cudaGetLastError());
    CHECK(
        cudaMemcpy2D(C, n * sizeof(float), d_C, c_pitch * sizeof(float), n * sizeof(float), m, cudaMemcpyDeviceToHost));
    for (float* each : {d_A, d_B, d_C}) CHECK(cudaFree(each));
}

int my_registers() {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, matmul_kernel));
    return attributes.numRegs;
}

int my_blocks(int width) {
    int device[DEVICE_LIMITS];
    query_limits(device);
    return resident_blocks(device, width * width, my_registers(), requiredSM(width * width));
}

int api_blocks(int width) {
    int blocks;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, matmul_kernel, width * width,
                                                        requiredSM(width * width)));
    return blocks;
}

int chosen_width(int most_threads) {
    int least_blocks = 0, block_threads = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(&least_blocks, &block_threads, matmul_kernel,
                                                                  TwoTiles(), most_threads, cudaOccupancyDefault));
    return int(std::lround(std::sqrt(power_of_four(block_threads))));
}

int matmul_best(const float* A, const float* B, float* C, int m, int k, int n) {
    const int width = chosen_width(MAX_WIDTH * MAX_WIDTH);
    matmul_dynamic(A, B, C, m, k, n, width);
    return width;
}
