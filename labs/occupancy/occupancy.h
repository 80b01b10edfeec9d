// The contract of lab occupancy: what your occupancy.cu defines and the tests call.
#pragma once

// In matmul_dynamic and matmul_best the device does the work, and host code only copies: every element of C is as a
// kernel wrote it, and what goes to the device is A and B as they are. The other functions are host code.

// What one multiprocessor (SM) offers, and how it hands it out. The functions below get these numbers as an array
// `device` of DEVICE_LIMITS ints, so that they can be asked about any device, also one that is not there.
enum DeviceLimit {
    THREADS_PER_BLOCK,       // most threads of a block
    THREADS_PER_SM,          // most threads that are resident on an SM; a multiple of 32
    BLOCKS_PER_SM,           // most blocks that are resident on an SM
    REGISTERS_PER_BLOCK,     // most registers of a block
    REGISTERS_PER_SM,        // registers of an SM, spread evenly over its sub-partitions
    SUB_PARTITIONS,          // parts of an SM, each with registers of its own; a warp lives in one of them
    REGISTER_UNIT,           // a warp gets registers in multiples of this many
    SHARED_BYTES_PER_BLOCK,  // most shared memory that a block may ask for (with the opt-in)
    SHARED_BYTES_PER_SM,     // shared memory of an SM
    RESERVED_SHARED_BYTES,   // what the system takes for itself in each block, on top of what the block asks for
    SHARED_UNIT_BYTES,       // a block gets shared memory in multiples of this many bytes, the reserved part included
    DEVICE_LIMITS
};

// A warp has 32 threads on every device. A block of 33 threads has two warps.
constexpr int WARP_SIZE = 32;

// 1. The lab sheet's formula, in threads: as many whole blocks as BLOCKS_PER_SM and THREADS_PER_SM allow, times the
// threads of a block, divided by THREADS_PER_SM. Between 0 and 1; 0 if block_threads is below 1 or above
// THREADS_PER_BLOCK.
double thread_occupancy(const int* device, int block_threads);

// 2. The textbook's equations, by registers alone:
//     registers of a block = registers of a thread · block_threads
//     blocks = REGISTERS_PER_SM / registers of a block, rounded down
//     resident warps = the smaller of the SM's most warps and blocks · warps of a block
//     occupancy = resident warps / the SM's most warps
// registers and block_threads are at least 1.
double register_occupancy(const int* device, int block_threads, int registers);

// 3. How many blocks an SM really holds at a time. A block has block_threads threads with `registers` registers each
// (at least 1, at most 255) and asks for shared_bytes bytes of shared memory, static and dynamic together (at least 0).
// It is 0 if such a block cannot be launched at all: block_threads is below 1 or above THREADS_PER_BLOCK, shared_bytes
// is above SHARED_BYTES_PER_BLOCK, or the registers are too many.
//
//   warps      THREADS_PER_SM / 32 warps are resident at most, and at most BLOCKS_PER_SM blocks.
//   registers  A warp gets 32 · registers, rounded up to a multiple of REGISTER_UNIT. Each sub-partition has
//              REGISTERS_PER_SM / SUB_PARTITIONS of them and holds whole warps; all of these warps together make up
//              whole blocks. A block has too many registers if its warps, rounded up to a multiple of SUB_PARTITIONS,
//              need more than REGISTERS_PER_BLOCK.
//   shared     A block gets shared_bytes + RESERVED_SHARED_BYTES, rounded up to a multiple of SHARED_UNIT_BYTES.
//              Where that is 0, shared memory sets no limit.
int resident_blocks(const int* device, int block_threads, int registers, int shared_bytes);

// 4. Writes the DEVICE_LIMITS numbers of the current device to `device`. Three of them CUDA does not tell:
// SUB_PARTITIONS is 4 (2 for compute capability 6.0), REGISTER_UNIT 256, and SHARED_UNIT_BYTES 128 from compute
// capability 8.0 on, 256 before.
void query_limits(int* device);

// 5. Two questions to resident_blocks. Which block size gives the highest occupancy to a kernel with so many registers
// a thread and so many bytes a block: the smallest such multiple of 32, or 0 if no block can be resident?
int best_block(const int* device, int registers, int shared_bytes);
// And the most registers that a thread may have, up to 255, so that `blocks` ≥ 1 blocks of block_threads threads (1 to
// THREADS_PER_BLOCK) without shared memory are resident; 0 if not even one register is possible.
int most_registers(const int* device, int block_threads, int blocks);

// 6. The largest power of four that is not above `threads`; threads is at least 1.
int power_of_four(int threads);
// Bytes of shared memory that a block of matmul_dynamic with so many threads needs: two square tiles of floats, with
// one element of each for each thread.
int requiredSM(int block_threads);

// 7. C = A · B, in tiles of width × width elements and blocks of as many threads. A is m × k, B is k × n and C is m ×
// n, dense, row-major, in host memory. The tiles lie in dynamic shared memory of exactly requiredSM(width · width)
// bytes, there is no static one, and the kernel reads the width from constant memory. One kernel is launched.
//
// Every size is a multiple of MAX_WIDTH, and width is one of 1, 2, 4, 8, 16, 32. Where a size is below 1, or width is
// none of these, nothing is launched and C is not touched.
constexpr int MAX_WIDTH = 32;
void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width);

// 8. Your kernel of matmul_dynamic. The registers of a thread, as nvcc -Xptxas -v tells them for sm_90, the
// architecture of the H100 that your program runs on by default:
int my_registers();
// How many blocks of it fit on an SM of the current device, with tiles of width × width elements (a width that
// matmul_dynamic takes): by resident_blocks with the numbers of query_limits and my_registers,
int my_blocks(int width);
// and by cudaOccupancyMaxActiveBlocksPerMultiprocessor. Neither launches anything.
int api_blocks(int width);

// 9. The tile width for the kernel of matmul_dynamic on the current device: the block size that
// cudaOccupancyMaxPotentialBlockSizeVariableSMem recommends among those of at most most_threads threads (at least 1, at
// most 1024), rounded down to a power of four; the width is its square root. Launches nothing.
int chosen_width(int most_threads);

// 10. matmul_dynamic with the width that is chosen among all block sizes. Returns the width.
int matmul_best(const float* A, const float* B, float* C, int m, int k, int n);

// --- Prelab ---------------------------------------------------------------------------------------------------------

// Questions to answer before the lab, in prelab.cpp. They leave aside that a device hands out registers and shared
// memory in larger units. Exercises are those of a textbook, Topics in Parallel and Distributed Computing, chapter 8.

// Exercise 8. How many registers does a block need?
int registers_per_block(int registers_per_thread, int threads);
// Exercises 8 and 15. How many blocks can be on a multiprocessor at once? It has sm_registers registers and
// sm_shared_bytes bytes of shared memory, and room for sm_warps warps and sm_blocks blocks. A block has `threads` ≥ 1
// threads, rounded up to whole warps where warps are counted, and needs registers_per_block(registers_per_thread,
// threads) registers, at least 1, and shared_bytes ≥ 0 bytes. It is there as a whole or not at all.
int blocks_that_fit(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks);
// The warps of those blocks, as a part of sm_warps: between 0 and 1.
double share_of_warps(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                      int sm_warps, int sm_blocks);
// The largest square block whose side is a power of two, such as 8 × 8, with at most `threads` ≥ 1 threads: how many
// threads has it?
int square_block(int threads);

// Predictions. matmul_dynamic runs on an H100, whose multiprocessors have room for 64 warps, 32 blocks, 65,536
// registers and 228 KiB of shared memory, with tiles of width × width elements and at most 32 registers a thread. How
// many of its blocks are resident on a multiprocessor, and what is the occupancy? width is one that matmul_dynamic
// takes.
int matmul_blocks(int width);
double matmul_occupancy(int width);
