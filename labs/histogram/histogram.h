// The contract of lab histogram: what your prelab.cpp and your histogram.cu define and the tests call.
#pragma once

#define BLOCK_SIZE 256     // threads of a block, in all versions
#define BLOCK_VALUES 4096  // that a block counts in versions 2 and 4
#define MOST_BINS 256
#define FEW_BINS 8

// --- Prelab: plain host code without a kernel, in prelab.cpp
//
// What the versions below cost. A request is one instruction of one warp, however many of its threads take part. All
// results fit an int, and n ≥ 1.

// A warp's 32 threads add to the bins values[0] … values[31]. In how many different bins is that? (In version 4, so
// many of the threads add.)
int adding_lanes(const unsigned char* values);
// And how many of the threads want the same bin, where most do? Additions to one word happen one after the other.
int longest_queue(const unsigned char* values);

// Requests for atomics on global memory, where all n values are below `bins`:
// in version 1, in which each value is one addition of one thread,
int requests_of_global(int n);
// in version 2, in which each block adds its counts at the end: thread t that of bin t, also where it is 0. The last
// block may have fewer values than the others.
int requests_of_shared(int n, int bins);

// Requests for atomics on shared memory in version 5, in which lane 0 of each warp of `blocks` blocks adds the warp's
// counts, one bin after the other, however many values they are of.
int shared_requests_of_few(int blocks, int bins);

// Requests that load the n values, of one byte each, if a thread loads `bytes` of them at a time (1, 2, 4, 8 or 16; n
// is a multiple of bytes) and the warps have whole pieces of 32 threads, but for the last one.
int load_requests(int n, int bytes);

// --- The lab, in histogram.cu
//
// The device does the work, and host code only copies. Whatever is in `counts` or `queues` is what a kernel wrote to
// device memory, and what goes to the device is the inputs as they are; padding and sizes may go with them.

// Six ways to the same counts: counts[b] is how many of the n values of `data` are b, for b from 0 to bins - 1. Values
// of `bins` or more are counted nowhere. `data` has n elements and `counts` has `bins`, both in host memory; `data`
// stays as it is.
//
// bins is from 1 to MOST_BINS (in version 5 to FEW_BINS); if it is not, nothing is launched and `counts` stays as it
// is. Where n ≤ 0, all counts are 0 and nothing is launched. n fits an int.

// Version 0, given. A single thread counts.
void histogram_serial(const unsigned char* data, int* counts, int n, int bins);

// Version 1. A thread for each value, in blocks of BLOCK_SIZE threads; it adds 1 to a count in global memory.
void histogram_global(const unsigned char* data, int* counts, int n, int bins);

// Version 2. A block takes BLOCK_VALUES values, the last one what is left, and its counts are in shared memory:
// neighbouring threads take neighbouring values. When all counts are complete, the block adds them to those in global
// memory: one addition for each bin of each block, or fewer.
void histogram_shared(const unsigned char* data, int* counts, int n, int bins);

// Version 3. As version 2, but however large n is, there are never more blocks than the device can hold at once, and a
// thread walks through the array in strides of the whole grid. It loads 16 bytes with one access (the last n % 16
// values one by one).
void histogram_strided(const unsigned char* data, int* counts, int n, int bins);

// Version 4. As version 2, but the lanes of a warp find out which of them have the same value, and one of these adds
// for all: of a warp whose values are equal a single lane adds to shared memory.
void histogram_match(const unsigned char* data, int* counts, int n, int bins);

// Version 5, for at most FEW_BINS bins. A grid as in version 3; and no value costs an atomic of its own, wherever: a
// warp adds for each bin at most twice to shared memory and at most once to global memory, however many values it has
// counted. Values are loaded as in version 3, and no thread uses local memory.
void histogram_few(const unsigned char* data, int* counts, int n, int bins);

// Contention, measured: the values are taken as warps load them in version 1, 32 at a time, the last n % 32 by a warp
// that is not full. queues[w] is how many of the values of warp w are equal, where most are; what their values are does
// not matter. There are n / 32 of them, rounded up.
//
// It is computed on the device, where each thread loads its own value once and the lanes tell each other without
// memory. Where n ≤ 0, nothing is launched.
void contention(const unsigned char* data, int* queues, int n);
