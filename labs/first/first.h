// The contract of lab first: what your first.cu and prelab.cpp define and the tests call.
#pragma once

// The device does the work, and host code only copies: whatever a function writes to an output is what a kernel wrote
// to device memory. Each call allocates the device memory that it needs and frees it again. The size of a block is
// yours to choose where it is not an argument; it has 32 threads at least, for in a smaller one most of a warp is idle.

// 1. Adds two vectors: c[i] = a[i] + b[i] for 0 ≤ i < n, in one launch with one thread for each element. Neighbouring
// threads take neighbouring elements.
//
// a, b and c are arrays of n elements in ordinary host memory, allocated by the caller; they do not overlap. a and b
// stay as they are, and every element of c is written. n need not be a multiple of anything; it is at most 2^30. Where
// n ≤ 0, nothing is launched and c is not touched.
void add_vectors(const float* a, const float* b, float* c, int n);

// 2. Multiplies each of the n elements of x, an array in host memory, by `factor`: once, with the grid that the caller
// asks for.
//
// The kernel is launched once, with `blocks` blocks of `threads` threads each, all along x. There may be fewer threads
// than elements, so that a thread has several of them, or more. Neighbouring threads take neighbouring elements.
//
// Returns 0 (cudaSuccess) when x is scaled. `blocks` and `threads` may be any numbers: where no such grid can be
// launched, the function returns the number of CUDA's error, as cudaGetLastError() gives it after the launch; x then
// stays as it is, and the program goes on. Where n ≤ 0, nothing is launched, x is not touched, and 0 is returned.
int scale_in_place(float* x, int n, float factor, int blocks, int threads);

// 3. Turns an image gray, in one launch with one thread for each pixel, and a grid and blocks of two dimensions: x
// along the width, y along the height. Neighbouring threads take neighbouring pixels of a row.
//
// The image has `height` rows of `width` pixels, and lies in memory row by row. In `rgb`, each pixel is three values in
// a row, red, green and blue; in `gray` it is one, (77 · red + 150 · green + 29 · blue) / 256, rounded down: whole
// numbers, so that there is one right result. `rgb` stays as it is, and every element of `gray` is written. Width and
// height are at most 16,384. Where one of them is ≤ 0, nothing is launched and `gray` is not touched.
void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height);

// --- Prelab ---------------------------------------------------------------------------------------------------------

// Questions to answer before you write a kernel, in prelab.cpp, in plain C++. Arguments are never negative unless a
// question says otherwise, and all results fit their types. Exercises are those of a textbook, Topics in Parallel and
// Distributed Computing, chapter 8.

// One thread adds one element of a vector of n ≥ 1 elements, in blocks of `block` ≥ 1 threads. How many blocks does the
// grid need, and how many threads of the whole grid have no element?
int blocks_needed(int n, int block);
int idle_threads(int n, int block);

// Exercise 4. How many blocks has a grid of dim3(x, y, z), and which is the largest value of blockIdx.x when gridDim.x
// is `blocks` ≥ 1?
int blocks_in_grid(int x, int y, int z);
int largest_block_index(int blocks);

// Exercise 5. Can a kernel be launched with blocks of dim3(x, y, z)? The limits are those since compute capability 2.0:
// 1024 threads in all, 1024 along x and y, 64 along z; and at least 1 along each. x, y and z may be any int.
bool block_is_possible(int x, int y, int z);
// Can it be launched with a grid of dim3(x, y, z) blocks? At least 1 along each direction, at most 2^31 - 1 along x and
// 65,535 along y and z. x, y and z may be any long long.
bool grid_is_possible(long long x, long long y, long long z);
// The number, from 0, of the thread with threadIdx = (x, y, z) in a block whose first two sizes are block_x and
// block_y: threads are numbered along x first, then y, then z. 32 of them in a row are a warp.
int thread_number(int x, int y, int z, int block_x, int block_y);
// How many warps has a possible block of dim3(x, y, z)?
int warps_in_block(int x, int y, int z);

// Exercise 7. One thread has one pixel of an image of width × height pixels, in a two-dimensional grid of blocks of
// block_x × block_y threads, x along the width. How many threads of the whole grid have no pixel?
int image_idle_threads(int width, int height, int block_x, int block_y);
// The image lies in memory as `rgb` of gray_image does. Which element of that array is channel `channel` (0 red,
// 1 green, 2 blue) of the pixel in column x of row y?
int pixel_offset(int x, int y, int channel, int width);

// Architectures are numbers here: 90 is compute_90 or sm_90, the compute capability 9.0; 100 is 10.0.
//
// Exercise 3. nvcc --gpu-architecture=compute_<virtual_architecture> --gpu-code=sm_<real[0]>,…,sm_<real[count - 1]>: is
// that accepted by a toolkit that knows architectures from `oldest` on (20 in CUDA 8, 75 in CUDA 13)? count may be 0
// (only PTX is kept).
bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count);
// A program holds binary code (cubins) for `count` ≥ 0 architectures, and PTX for the architecture `ptx`, or none where
// ptx is 0. Does it run on a device of compute capability `device`? (Leave architectures such as sm_90a aside.)
bool runs_on(int device, int ptx, const int* cubins, int count);

// Predictions. add_vectors runs with n ≥ 1 elements, in blocks of `block` threads, a multiple of 32. How many warps are
// launched? How many requests do they make to load a and b: instructions, counted once for each warp in which at least
// one thread loads? And how many sectors of 32 bytes do these loads fetch, where a and b each begin a sector?
int add_warps(int n, int block);
int add_load_requests(int n);
int add_sectors_loaded(int n);
