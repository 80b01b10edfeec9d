// Lab occupancy: how many blocks a multiprocessor holds, and a matrix product that chooses its block size.
// The calculators return 0, and the product has small blocks of a fixed size. It is right, and slow.
// Grade it:  ./warpgrade check occupancy      (in this folder)
#include "occupancy.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>

// --- Occupancy by hand: host code ---

inline int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

inline int warps_of(int threads) { return (threads + WARP_SIZE - 1) / WARP_SIZE; }

double thread_occupancy(const int* device, int block_threads) {
    // TODO(student): 1. How many whole blocks fit? Beware of dividing integers where a fraction is wanted.
    return 0;
}

double register_occupancy(const int* device, int block_threads, int registers) {
    // TODO(student): 2. The four equations of the contract, one after the other.
    return 0;
}

int resident_blocks(const int* device, int block_threads, int registers, int shared_bytes) {
    // TODO(student): 3. First the blocks that no launch can have at all. Then one limit after the other: warps, blocks,
    // registers, shared memory. The smallest counts.
    return 0;
}

void query_limits(int* device) {
    int current;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&current));
    CHECK(cudaGetDeviceProperties(&properties, current));
    // TODO(student): 4. Fill in the others. The contract says which of them CUDA does not tell.
    std::fill(device, device + DEVICE_LIMITS, 0);
    device[THREADS_PER_BLOCK] = properties.maxThreadsPerBlock;
}

int best_block(const int* device, int registers, int shared_bytes) {
    // TODO(student): 5. Try all sizes. Which number tells how well a size fills the multiprocessor?
    return 0;
}

int most_registers(const int* device, int block_threads, int blocks) {
    // TODO(student): 5. The same question the other way round.
    return 0;
}

// --- A matrix product that chooses its block size ---

int power_of_four(int threads) {
    // TODO(student): 6. The sheet computes it with logarithms. With integers it is exact.
    return 0;
}

int requiredSM(int block_threads) {
    // TODO(student): 6. Two tiles, in bytes.
    return 0;
}

// TODO(student): 7. Make the width a variable in constant memory instead of a constant of the compiler, and the two
// tiles parts of one array in dynamic shared memory. That array has one dimension: work out the indices.
constexpr int BLOCK_WIDTH = 4;

// A block computes a tile of C, each thread one element of it, as in lab matmul. All sizes are multiples of the width.
__global__ void matmul_kernel(const float* A, const float* B, float* C, int k, int n) {
    __shared__ float a_tile[BLOCK_WIDTH][BLOCK_WIDTH];
    __shared__ float b_tile[BLOCK_WIDTH][BLOCK_WIDTH];
    const int width = BLOCK_WIDTH;
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * width + x;
    const int row = blockIdx.y * width + y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += width) {
        a_tile[y][x] = A[row * k + first + x];
        b_tile[y][x] = B[(first + y) * n + column];
        __syncthreads();
        for (int i = 0; i < width; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (m < 1 || k < 1 || n < 1) return;
    if (width < 1 || width > MAX_WIDTH || (width & (width - 1)) != 0) return;
    // TODO(student): 7. Remove the next line, copy the width to constant memory, and give the launch below its dynamic
    // shared memory.
    width = BLOCK_WIDTH;

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, sizeof(float) * m * k));
    CHECK(cudaMalloc(&d_B, sizeof(float) * k * n));
    CHECK(cudaMalloc(&d_C, sizeof(float) * m * n));
    CHECK(cudaMemcpy(d_A, A, sizeof(float) * m * k, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B, sizeof(float) * k * n, cudaMemcpyHostToDevice));

    const dim3 block(width, width);
    const dim3 grid(n / width, m / width);
    matmul_kernel<<<grid, block>>>(d_A, d_B, d_C, k, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(C, d_C, sizeof(float) * m * n, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}

int my_registers() {
    // TODO(student): 8. Compile this file with -Xptxas -v, as the task sheet says, and return what it prints for your
    // kernel. Look again whenever you change the kernel.
    return 0;
}

int my_blocks(int width) {
    // TODO(student): 8. By your own calculation, on the device that the program runs on.
    return 0;
}

int api_blocks(int width) {
    // TODO(student): 8. By cudaOccupancyMaxActiveBlocksPerMultiprocessor.
    return 0;
}

int chosen_width(int most_threads) {
    // TODO(student): 9. Ask cudaOccupancyMaxPotentialBlockSizeVariableSMem, with requiredSM as the function that tells
    // how much shared memory a block of some size needs, and with the limit as its last argument. Then round.
    return BLOCK_WIDTH;
}

int matmul_best(const float* A, const float* B, float* C, int m, int k, int n) {
    const int width = chosen_width(MAX_WIDTH * MAX_WIDTH);
    matmul_dynamic(A, B, C, m, k, n, width);
    return width;
}
