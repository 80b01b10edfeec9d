// The contract of lab quiz: the questions. Your quiz.cu answers each with a function, plain host code without a kernel.
//
// Arguments are never negative unless a question says otherwise, and all results fit their types. ⌈x⌉ is x rounded up.
#pragma once

// --- Launches
// ---------------------------------------------------------------------------------------------------------

// One thread adds one element of a vector of n ≥ 1 elements, in blocks of `block` ≥ 1 threads. How many blocks does the
// grid need, and how many threads of the whole grid have no element?
int blocks_needed(int n, int block);
int idle_threads(int n, int block);

// Exercise 4. How many blocks has a grid of dim3(x, y, z), and which is the largest value of blockIdx.x when gridDim.x
// is `blocks` ≥ 1?
int blocks_in_grid(int x, int y, int z);
int largest_block_index(int blocks);

// Exercise 5. Can a kernel be launched with blocks of dim3(x, y, z)? x, y and z may be any int here. The limits are
// those since compute capability 2.0: 1024 threads in all, 1024 along x and y, 64 along z; and at least 1 along each.
bool block_is_possible(int x, int y, int z);
// The number, from 0, of the thread with threadIdx = (x, y, z) in a block whose first two sizes are block_x and
// block_y: threads are numbered along x first, then y, then z. 32 of them in a row are a warp.
int thread_number(int x, int y, int z, int block_x, int block_y);
// How many warps has a possible block of dim3(x, y, z)?
int warps_in_block(int x, int y, int z);

// Exercise 7. One thread colours one pixel of an image of width × height pixels, in a two-dimensional grid of blocks of
// block_x × block_y threads, x along the width. How many threads of the whole grid have no pixel?
int image_idle_threads(int width, int height, int block_x, int block_y);
// The image lies in memory row by row, and each pixel as three values in a row: red, green, blue (channel 0, 1, 2).
// Which element of that array is channel `channel` of the pixel in column x of row y?
int pixel_offset(int x, int y, int channel, int width);

// --- Compiling
// --------------------------------------------------------------------------------------------------------

// Architectures are numbers here: 90 is compute_90 or sm_90, the compute capability 9.0; 100 is 10.0.
//
// Exercise 3. nvcc --gpu-architecture=compute_<virtual_architecture> --gpu-code=sm_<real[0]>,…,sm_<real[count - 1]>: is
// that accepted by a toolkit that knows architectures from `oldest` on (20 in CUDA 8, 75 in CUDA 13)? count may be 0
// (only PTX is kept).
bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count);
// A program holds binary code (cubins) for `count` ≥ 0 architectures, and PTX for the architecture `ptx`, or none where
// ptx is 0. Does it run on a device of compute capability `device`? (Leave architectures such as sm_90a aside.)
bool runs_on(int device, int ptx, const int* cubins, int count);

// --- Occupancy
// --------------------------------------------------------------------------------------------------------

// Exercise 8. How many registers does a block need?
int registers_per_block(int registers_per_thread, int threads);
// Exercises 8 and 15. How many blocks can be on a multiprocessor at once? It has sm_registers registers and
// sm_shared_bytes bytes of shared memory, and room for sm_warps warps and sm_blocks blocks. A block has `threads` ≥ 1
// threads, rounded up to whole warps where warps are counted, and needs registers_per_block(registers_per_thread,
// threads) registers, at least 1, and shared_bytes ≥ 0 bytes. It is there as a whole or not at all.
int resident_blocks(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks);
// The warps of those blocks, as a part of sm_warps: between 0 and 1.
double occupancy(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                 int sm_warps, int sm_blocks);
// The largest square block whose side is a power of two, such as 8 × 8, with at most `threads` ≥ 1 threads: how many
// threads has it?
int square_block(int threads);

// --- Shared and constant memory
// ---------------------------------------------------------------------------------------

// Exercises 9 and 10. A kernel keeps three arrays of float in one piece of dynamic shared memory, without gaps: A (k
// elements), then B (l), then C (m). How many bytes does the launch ask for, and at which byte does C begin?
int shared_bytes(int k, int l, int m);
int offset_of_third(int k, int l);
// Arrays of different types: the first `bytes_before` bytes are taken. At which byte, the first possible one, can an
// array begin whose elements must lie at multiples of `alignment` bytes (a power of two)?
int aligned_offset(int bytes_before, int alignment);

// Shared memory has 32 banks; word w (4 bytes) lies in bank w % 32. A load of a warp takes as many wavefronts as there
// are different words in the busiest bank. How many is that when the thread in lane i loads word i · stride?
int wavefronts(int stride);
// And when it loads the single byte i · stride, as with an array of bool or char?
int byte_wavefronts(int stride);

// Exercise 11. How many bytes does cudaMemcpyToSymbol copy for a table of `bins` floats, and how many bins has the
// largest table that fits the 64 KiB of constant memory?
int constant_bytes(int bins);
int largest_constant_table();

// --- Global memory
// ----------------------------------------------------------------------------------------------------

// Exercise 12, for GPUs of today. Memory is fetched in sectors of 32 bytes. How many different sectors does one load of
// a warp touch when the thread in lane i (0 to 31) loads element first + i · stride of an array of floats, whose
// element 0 begins a sector?
int sectors(int first, int stride);

// Exercise 13. The ratio of arithmetic operations to accesses to global memory (CGMA); and the performance in GFLOPS of
// a kernel that only waits for memory, when its accesses are of 4 bytes and the memory gives gigabytes_per_second.
double operations_per_access(double operations, double accesses);
double gflops(double gigabytes_per_second, double ratio);

// Exercise 14. The kernel `neurons` of the task sheet runs with `firing` threads that have v > 30 and `quiet` threads
// that have not; all of them have a neuron. How many additions, subtractions and multiplications of floats are done in
// all, and how many loads and stores of single elements of global memory? Count what the source says; comparisons and
// the computing of indices are not counted.
int neuron_operations(int firing, int quiet);
int neuron_accesses(int firing, int quiet);

// An m × k matrix times a k × n matrix. How many elements do the threads load from global memory in all, each element
// counted each time that it is loaded: with one thread for each element of the product, which loads all of its
// operands; and with tiles of width × width in shared memory, where m, k and n are multiples of width?
long long naive_loads(int m, int k, int n);
long long tiled_loads(int m, int k, int n, int width);
// A thread loads `rows` values of one operand and `columns` of the other into registers, and does one operation with
// each pair of them. How many loads is that for each operation?
double loads_per_operation(int rows, int columns);

// --- Divergence
// -------------------------------------------------------------------------------------------------------

// Exercise 17. A block of `threads` threads adds up as many elements in shared memory, in warps of `warp` threads (both
// are powers of two, warp ≤ threads). A warp diverges at an `if` when some of its threads take it and some do not. How
// often does that happen, over all warps and all turns of the loop? t is the thread's number.
//   for (int step = 1; step < threads; step *= 2)         if (t % (2 * step) == 0) sum[t] += sum[t + step];
int divergent_interleaved(int threads, int warp);
//   for (int step = threads / 2; step >= 1; step /= 2)    if (t < step) sum[t] += sum[t + step];
int divergent_halving(int threads, int warp);

// --- Convolution
// ------------------------------------------------------------------------------------------------------

// Exercise 18. p[j], for 0 ≤ j < width, is the sum of n[j + i - mask_width / 2] · mask[i] over the mask_width elements
// of the mask, an odd number. Elements of n beyond its ends count as zero. n and p have `width` ≥ 1 elements.
void convolve(const int* n, int width, const int* mask, int mask_width, int* p);
