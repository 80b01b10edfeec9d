// The contract of lab scan: what your scan.cu defines and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// The elements that block_scan adds up together, and the threads of a block.
constexpr int BLOCK_SIZE = 256;

// Every function reads the n elements of x and writes the n elements of out, whatever they held before; both arrays lie
// in host memory and do not overlap, and x stays as it is. Where n ≤ 0, or another number is not as its function asks,
// nothing is launched and out is not touched. The sum of any elements side by side fits an int.
//
// The warp of element i are the elements from 32 · (i / 32) on, 32 of them, or fewer where the array ends; the group of
// element i are those from width · (i / width) on, `width` of them or fewer. The block of element i is meant likewise,
// with BLOCK_SIZE.
//
// In the seven functions that vote and shuffle one thread takes care of one element: it loads x[i] once, and stores
// out[i] once. What it has to know of other elements it learns by a vote or a shuffle.

// out[i] = 1 if all elements of i's warp are different from 0, else 0.
void vote_all(const int* x, int* out, int n);

// out[i] = 1 if any element of i's warp is different from 0, else 0.
void vote_any(const int* x, int* out, int n);

// out[i] = the number of elements in i's warp that lie before i and are different from 0.
void vote_rank(const int* x, int* out, int n);

// out[i] = the element number `lane` of i's group; x[i] where the array ends before it.
// width is a power of two from 1 to 32, and 0 ≤ lane < width.
void shuffle_broadcast(const int* x, int* out, int n, int lane, int width);

// out[i] = x[i - delta] if that is in i's group, else x[i]. width as above, and 0 ≤ delta < 32.
void shuffle_up(const int* x, int* out, int n, int delta, int width);

// out[i] = x[i + delta] if that is in i's group, else x[i]. width as above, and 0 ≤ delta < 32.
void shuffle_down(const int* x, int* out, int n, int delta, int width);

// out[i] = the element of i's warp whose number in the warp is that of i with the bits of `mask` flipped (exclusive
// or); x[i] where the array ends before it. 0 ≤ mask < 32.
void shuffle_xor(const int* x, int* out, int n, int mask);

// Inclusive scan of every warp: out[i] = the sum of the elements of i's warp up to i, and with it. A thread loads and
// stores one element, once; a warp uses shuffles, no shared memory, and at most 96 instructions.
void warp_scan(const int* x, int* out, int n);

// Inclusive scan of every block: out[i] = the sum of the elements of i's block up to i, and with it. A thread loads and
// stores one element, once. On average a warp accesses shared memory at most 8 times, and meets at most 4 barriers.
void block_scan(const int* x, int* out, int n);

// Inclusive scan of the whole array: out[i] = x[0] + x[1] + … + x[i]. The work is spread over blocks, one for 8192
// elements or fewer, in as many launches as you like. All loads and stores together touch at most 40 sectors (32 bytes
// each) for 64 elements, once there are thousands: each element may be loaded twice and stored twice, and the rest is
// left for the sums of blocks.
void scan(const int* x, int* out, int n);
