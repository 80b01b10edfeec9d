// RIGHT: sizes and pointers in a struct in constant memory, so that the kernel has no arguments; vectors in between
#include "occupancy.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <vector>

// --- Occupancy by hand: host code ---

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

// --- A matrix product that chooses its block size ---

int power_of_four(int threads) {
    int power = 1;
    while (power <= threads / 4) power *= 4;
    return power;
}

int requiredSM(int block_threads) { return 2 * block_threads * static_cast<int>(sizeof(float)); }

struct Job {
    const float *A, *B;
    float* C;
    int k, n, width;
};
__constant__ Job job;

// A block computes a tile of C, each thread one element of it, as in lab matmul. All sizes are multiples of the width.
__global__ void matmul_kernel() {
    extern __shared__ float tiles[];
    const float *const A = job.A, *const B = job.B;
    const int k = job.k, n = job.n, width = job.width;
    float* const a_tile = tiles;
    float* const b_tile = tiles + width * width;
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * width + x;
    const int row = blockIdx.y * width + y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += width) {
        a_tile[y * width + x] = A[row * k + first + x];
        b_tile[y * width + x] = B[(first + y) * n + column];
        __syncthreads();
        for (int i = 0; i < width; ++i) sum += a_tile[y * width + i] * b_tile[i * width + x];
        __syncthreads();
    }
    job.C[row * n + column] = sum;
}

void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (m < 1 || k < 1 || n < 1) return;
    if (width < 1 || width > MAX_WIDTH || (width & (width - 1)) != 0) return;
    const std::vector<float> a(A, A + m * k), b(B, B + k * n);
    std::vector<float> c(m * n);
    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, sizeof(float) * m * k));
    CHECK(cudaMalloc(&d_B, sizeof(float) * k * n));
    CHECK(cudaMalloc(&d_C, sizeof(float) * m * n));
    CHECK(cudaMemcpy(d_A, a.data(), sizeof(float) * m * k, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, b.data(), sizeof(float) * k * n, cudaMemcpyHostToDevice));
    const Job all = {d_A, d_B, d_C, k, n, width};
    CHECK(cudaMemcpyToSymbol(job, &all, sizeof all));
    matmul_kernel<<<dim3(n / width, m / width), dim3(width, width), requiredSM(width * width)>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), d_C, sizeof(float) * m * n, cudaMemcpyDeviceToHost));
    std::copy(c.begin(), c.end(), C);
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}

int my_registers() { return 32; }

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
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least_blocks, &block_threads, matmul_kernel, requiredSM,
                                                         most_threads));
    const int threads = power_of_four(block_threads);
    int width = 1;
    while (width * width < threads) width *= 2;
    return width;
}

int matmul_best(const float* A, const float* B, float* C, int m, int k, int n) {
    const int width = chosen_width(MAX_WIDTH * MAX_WIDTH);
    matmul_dynamic(A, B, C, m, k, n, width);
    return width;
}
