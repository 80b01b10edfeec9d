// SOLUTION BEGIN
// STARTER: // Lab occupancy: how many blocks a multiprocessor holds, and a matrix product that chooses its block size.
// STARTER: // The calculators return 0, and the product has small blocks of a fixed size. It is right, and slow.
// STARTER: // Grade it:  ./warpgrade check occupancy      (in this folder)
// Lab occupancy, reference solution: an occupancy calculator, and a matrix product that chooses its block size.
// Grade it:  ./warpgrade grade occupancy reference/occupancy
// SOLUTION END
#include "occupancy.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>

// --- Occupancy by hand: host code ---

inline int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

inline int warps_of(int threads) { return (threads + WARP_SIZE - 1) / WARP_SIZE; }

double thread_occupancy(const int* device, int block_threads) {
    // SOLUTION BEGIN
    // TODO(student): 1. How many whole blocks fit? Beware of dividing integers where a fraction is wanted.
    // STARTER: return 0;
    if (block_threads < 1 || block_threads > device[THREADS_PER_BLOCK]) return 0;
    const int blocks = std::min(device[BLOCKS_PER_SM], device[THREADS_PER_SM] / block_threads);
    return static_cast<double>(blocks) * block_threads / device[THREADS_PER_SM];
    // SOLUTION END
}

double register_occupancy(const int* device, int block_threads, int registers) {
    // SOLUTION BEGIN
    // TODO(student): 2. The four equations of the contract, one after the other.
    // STARTER: return 0;
    const int registers_per_block = registers * block_threads;
    const int blocks = device[REGISTERS_PER_SM] / registers_per_block;
    const int most_warps = device[THREADS_PER_SM] / WARP_SIZE;
    const int resident_warps = std::min(most_warps, blocks * warps_of(block_threads));
    return static_cast<double>(resident_warps) / most_warps;
    // SOLUTION END
}

int resident_blocks(const int* device, int block_threads, int registers, int shared_bytes) {
    // SOLUTION BEGIN
    // TODO(student): 3. First the blocks that no launch can have at all. Then one limit after the other: warps, blocks,
    // registers, shared memory. The smallest counts.
    // STARTER: return 0;
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
    // SOLUTION END
}

void query_limits(int* device) {
    int current;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&current));
    CHECK(cudaGetDeviceProperties(&properties, current));
    // SOLUTION BEGIN
    // TODO(student): 4. Fill in the others. The contract says which of them CUDA does not tell.
    // STARTER: std::fill(device, device + DEVICE_LIMITS, 0);
    // STARTER: device[THREADS_PER_BLOCK] = properties.maxThreadsPerBlock;
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
    // SOLUTION END
}

int best_block(const int* device, int registers, int shared_bytes) {
    // SOLUTION BEGIN
    // TODO(student): 5. Try all sizes. Which number tells how well a size fills the multiprocessor?
    // STARTER: return 0;
    int best = 0, most_warps = 0;
    for (int threads = WARP_SIZE; threads <= device[THREADS_PER_BLOCK]; threads += WARP_SIZE) {
        const int warps = resident_blocks(device, threads, registers, shared_bytes) * warps_of(threads);
        if (warps > most_warps) most_warps = warps, best = threads;
    }
    return best;
    // SOLUTION END
}

int most_registers(const int* device, int block_threads, int blocks) {
    // SOLUTION BEGIN
    // TODO(student): 5. The same question the other way round.
    // STARTER: return 0;
    int registers = 255;
    while (registers > 0 && resident_blocks(device, block_threads, registers, 0) < blocks) --registers;
    return registers;
    // SOLUTION END
}

// --- A matrix product that chooses its block size ---

int power_of_four(int threads) {
    // SOLUTION BEGIN
    // TODO(student): 6. The sheet computes it with logarithms. With integers it is exact.
    // STARTER: return 0;
    int power = 1;
    while (power <= threads / 4) power *= 4;
    return power;
    // SOLUTION END
}

int requiredSM(int block_threads) {
    // SOLUTION BEGIN
    // TODO(student): 6. Two tiles, in bytes.
    // STARTER: return 0;
    return 2 * block_threads * static_cast<int>(sizeof(float));
    // SOLUTION END
}

// SOLUTION BEGIN
// TODO(student): 7. Make the width a variable in constant memory instead of a constant of the compiler, and the two
// tiles parts of one array in dynamic shared memory. That array has one dimension: work out the indices.
// STARTER: constexpr int BLOCK_WIDTH = 4;
// STARTER:
__constant__ int block_width;

// SOLUTION END
// A block computes a tile of C, each thread one element of it, as in lab matmul. All sizes are multiples of the width.
__global__ void matmul_kernel(const float* A, const float* B, float* C, int k, int n) {
    // SOLUTION BEGIN
    // STARTER: __shared__ float a_tile[BLOCK_WIDTH][BLOCK_WIDTH];
    // STARTER: __shared__ float b_tile[BLOCK_WIDTH][BLOCK_WIDTH];
    // STARTER: const int width = BLOCK_WIDTH;
    extern __shared__ float tiles[];
    const int width = block_width;
    float* const a_tile = tiles;
    float* const b_tile = tiles + width * width;
    // SOLUTION END
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * width + x;
    const int row = blockIdx.y * width + y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += width) {
        // SOLUTION BEGIN
        // STARTER: a_tile[y][x] = A[row * k + first + x];
        // STARTER: b_tile[y][x] = B[(first + y) * n + column];
        a_tile[y * width + x] = A[row * k + first + x];
        b_tile[y * width + x] = B[(first + y) * n + column];
        // SOLUTION END
        __syncthreads();
        // SOLUTION BEGIN
        // STARTER: for (int i = 0; i < width; ++i) sum += a_tile[y][i] * b_tile[i][x];
        for (int i = 0; i < width; ++i) sum += a_tile[y * width + i] * b_tile[i * width + x];
        // SOLUTION END
        __syncthreads();
    }
    C[row * n + column] = sum;
}

void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (m < 1 || k < 1 || n < 1) return;
    if (width < 1 || width > MAX_WIDTH || (width & (width - 1)) != 0) return;
    // SOLUTION BEGIN
    // TODO(student): 7. Remove the next line, copy the width to constant memory, and give the launch below its dynamic
    // shared memory.
    // STARTER: width = BLOCK_WIDTH;
    CHECK(cudaMemcpyToSymbol(block_width, &width, sizeof width));
    // SOLUTION END

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, sizeof(float) * m * k));
    CHECK(cudaMalloc(&d_B, sizeof(float) * k * n));
    CHECK(cudaMalloc(&d_C, sizeof(float) * m * n));
    CHECK(cudaMemcpy(d_A, A, sizeof(float) * m * k, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B, sizeof(float) * k * n, cudaMemcpyHostToDevice));

    const dim3 block(width, width);
    const dim3 grid(n / width, m / width);
    // SOLUTION BEGIN
    // STARTER: matmul_kernel<<<grid, block>>>(d_A, d_B, d_C, k, n);
    matmul_kernel<<<grid, block, requiredSM(width * width)>>>(d_A, d_B, d_C, k, n);
    // SOLUTION END
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(C, d_C, sizeof(float) * m * n, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}

int my_registers() {
    // SOLUTION BEGIN
    // TODO(student): 8. Compile this file with -Xptxas -v, as the task sheet says, and return what it prints for your
    // kernel. Look again whenever you change the kernel.
    // STARTER: return 0;
    return 32;
    // SOLUTION END
}

int my_blocks(int width) {
    // SOLUTION BEGIN
    // TODO(student): 8. By your own calculation, on the device that the program runs on.
    // STARTER: return 0;
    int device[DEVICE_LIMITS];
    query_limits(device);
    return resident_blocks(device, width * width, my_registers(), requiredSM(width * width));
    // SOLUTION END
}

int api_blocks(int width) {
    // SOLUTION BEGIN
    // TODO(student): 8. By cudaOccupancyMaxActiveBlocksPerMultiprocessor.
    // STARTER: return 0;
    int blocks;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, matmul_kernel, width * width,
                                                        requiredSM(width * width)));
    return blocks;
    // SOLUTION END
}

int chosen_width(int most_threads) {
    // SOLUTION BEGIN
    // TODO(student): 9. Ask cudaOccupancyMaxPotentialBlockSizeVariableSMem, with requiredSM as the function that tells
    // how much shared memory a block of some size needs, and with the limit as its last argument. Then round.
    // STARTER: return BLOCK_WIDTH;
    int least_blocks = 0, block_threads = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least_blocks, &block_threads, matmul_kernel, requiredSM,
                                                         most_threads));
    const int threads = power_of_four(block_threads);
    int width = 1;
    while (width * width < threads) width *= 2;
    return width;
    // SOLUTION END
}

int matmul_best(const float* A, const float* B, float* C, int m, int k, int n) {
    const int width = chosen_width(MAX_WIDTH * MAX_WIDTH);
    matmul_dynamic(A, B, C, m, k, n, width);
    return width;
}
