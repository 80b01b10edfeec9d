// RIGHT: blocks are counted while there is room, not divided; one allocation for all matrices, the tile of B first
#include "occupancy.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <vector>

double thread_occupancy(const int* device, int block_threads) {
    if (block_threads < 1 || block_threads > device[THREADS_PER_BLOCK]) return 0;
    int threads = 0;
    for (int i = 0; i < device[BLOCKS_PER_SM] && threads + block_threads <= device[THREADS_PER_SM]; ++i)
        threads += block_threads;
    return double(threads) / device[THREADS_PER_SM];
}

double register_occupancy(const int* device, int block_threads, int registers) {
    const int most_warps = device[THREADS_PER_SM] / WARP_SIZE;
    long long used = 0;
    int warps = 0;
    for (;;) {
        used += 1LL * registers * block_threads;
        if (used > device[REGISTERS_PER_SM]) break;
        warps += (block_threads + WARP_SIZE - 1) / WARP_SIZE;
    }
    return double(warps < most_warps ? warps : most_warps) / most_warps;
}

static int in_units(int amount, int unit) {
    int all = 0;
    while (all < amount) all += unit;
    return all;
}

// Warps are dealt out to the sub-partitions in turn.
int resident_blocks(const int* device, int block_threads, int registers, int shared_bytes) {
    if (block_threads < 1 || block_threads > device[THREADS_PER_BLOCK]) return 0;
    if (shared_bytes > device[SHARED_BYTES_PER_BLOCK]) return 0;
    const int parts = device[SUB_PARTITIONS], warps = in_units(block_threads, WARP_SIZE) / WARP_SIZE;
    const int of_warp = in_units(WARP_SIZE * registers, device[REGISTER_UNIT]);
    if (of_warp * in_units(warps, parts) > device[REGISTERS_PER_BLOCK]) return 0;
    const int of_block = in_units(shared_bytes + device[RESERVED_SHARED_BYTES], device[SHARED_UNIT_BYTES]);

    std::vector<int> registers_left(parts, device[REGISTERS_PER_SM] / parts);
    int shared_left = device[SHARED_BYTES_PER_SM], warps_left = device[THREADS_PER_SM] / WARP_SIZE, part = 0;
    for (int blocks = 0;; ++blocks) {
        if (blocks == device[BLOCKS_PER_SM] || warps_left < warps || shared_left < of_block) return blocks;
        for (int warp = 0; warp < warps; ++warp, part = (part + 1) % parts) {
            if (registers_left[part] < of_warp) return blocks;
            registers_left[part] -= of_warp;
        }
        warps_left -= warps;
        shared_left -= of_block;
    }
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

// From the largest down: the last of equal ones is the smallest.
int best_block(const int* device, int registers, int shared_bytes) {
    int best = 0, most_warps = 1;
    for (int warps = device[THREADS_PER_BLOCK] / WARP_SIZE; warps > 0; --warps) {
        const int resident = warps * resident_blocks(device, WARP_SIZE * warps, registers, shared_bytes);
        if (resident >= most_warps) most_warps = resident, best = WARP_SIZE * warps;
    }
    return best;
}

// Registers are given in units, so the answer is a whole number of units of a warp's threads, or 255.
int most_registers(const int* device, int block_threads, int blocks) {
    int most = 0;
    for (int registers = 1; registers <= 255; ++registers) {
        if (resident_blocks(device, block_threads, registers, 0) < blocks) break;
        most = registers;
    }
    return most;
}

int power_of_four(int threads) { return threads < 4 ? 1 : 4 * power_of_four(threads / 4); }

int requiredSM(int block_threads) { return 8 * block_threads; }

__constant__ int tile_width;

__global__ void matmul_kernel(const float* A, const float* B, float* C, int k, int n) {
    extern __shared__ float shared[];
    const int w = tile_width, x = threadIdx.x, y = threadIdx.y;
    float *const b_tile = shared, *const a_tile = shared + w * w;
    const float* a = A + (blockIdx.y * w + y) * k + x;
    const float* b = B + y * n + blockIdx.x * w + x;
    float sum = 0.0f;
    for (int tiles = k / w; tiles > 0; --tiles, a += w, b += w * n) {
        a_tile[y * w + x] = *a;
        b_tile[y * w + x] = *b;
        __syncthreads();
        for (int i = 0; i < w; ++i) sum = fmaf(a_tile[y * w + i], b_tile[i * w + x], sum);
        __syncthreads();
    }
    C[(blockIdx.y * w + y) * n + blockIdx.x * w + x] = sum;
}

void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (m < 1 || k < 1 || n < 1) return;
    if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16 && width != 32) return;
    float* all;
    CHECK(cudaMalloc(&all, sizeof(float) * (m * k + k * n + m * n)));
    float *const d_A = all, *const d_B = all + m * k, *const d_C = d_B + k * n;
    CHECK(cudaMemcpy(d_A, A, sizeof(float) * m * k, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B, sizeof(float) * k * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(tile_width, &width, sizeof width));
    matmul_kernel<<<dim3(n / width, m / width), dim3(width, width), requiredSM(width * width)>>>(d_A, d_B, d_C, k, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(C, d_C, sizeof(float) * m * n, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(all));
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
