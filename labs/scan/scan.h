// The contract of lab scan: what your prelab.cpp and your scan.cu define and the tests call.
#pragma once

// --- Prelab: plain host code without a kernel, in prelab.cpp
//
// All results fit their types.

// The inclusive scan of n ≥ 1 elements by as many threads, in steps with distances 1, 2, 4 and so on below n: in a step
// each thread adds the element `distance` places lower to its own, if there is one. How many steps is that, and how
// many additions in all?
int simple_steps(int n);
long long simple_additions(int n);

// The exclusive scan of n elements (a power of two, at least 2) by a tree that is swept twice. Up, with distances 1, 2,
// … n / 2: the last element of each part of 2 · distance elements gets the last element of the part's first half added.
// Then the last element of all becomes 0. Down, with distances n / 2, … 2, 1: these two elements trade places, and the
// upper one gets the other's old value added. How many steps, and how many additions (of whatever, even zero)?
int tree_steps(int n);
long long tree_additions(int n);

// What block_scan below takes for n elements, a multiple of BLOCK_SIZE, where each block does just what steps 4 and 5
// of the task sheet say: how many requests to load from or store to shared memory? A request is one instruction of one
// warp, however many of its threads take part.
int block_scan_requests(int n);

// What scan below takes for n elements, 1 ≤ n ≤ 2^30, by the way of step 7 of the task sheet: blocks of BLOCK_SIZE
// elements are scanned, their sums are scanned in the same way, and added. How many launches?
int scan_launches(int n);
// And how many sectors (32 bytes) are loaded and stored for the elements, in all, without those for the sums? n is a
// multiple of 8, at least 4096, here. The tests allow 15 %, since they count those for the sums as well.
int scan_sectors(int n);

// --- The lab, in scan.cu
//
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

// A step on the way to block_scan. out has one element for each warp of x, ⌈n / 32⌉ in all: the sum of all elements
// before this warp in its block, and so 0 for the first warp of a block.
void warp_offsets(const int* x, int* out, int n);

// Inclusive scan of every block: out[i] = the sum of the elements of i's block up to i, and with it. A thread loads and
// stores one element, once. Within a warp values go from lane to lane by shuffles, and only the sums of warps through
// shared memory: on average a warp accesses it at most 8 times, and meets at most 4 barriers. A tree in shared memory
// needs more, with or without bank conflicts.
void block_scan(const int* x, int* out, int n);

// A step on the way to scan. sums has one element for each block of x, ⌈n / BLOCK_SIZE⌉ in all. out[i] = x[i] plus the
// element of sums of the block before i's; x[i] in the first block.
void add_block_sums(const int* x, const int* sums, int* out, int n);

// Inclusive scan of the whole array: out[i] = x[0] + x[1] + … + x[i]. The work is spread over blocks, one for 16,384
// elements or fewer, in as many launches as you like; blocks may be scanned in whatever way. All loads and stores
// together touch at most 40 sectors (32 bytes each) for 64 elements, once there are thousands: each element may be
// loaded twice and stored twice, and the rest is left for the sums of blocks.
void scan(const int* x, int* out, int n);
