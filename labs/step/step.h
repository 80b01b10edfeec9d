// The contract of lab step: what your prelab.cpp and your step.cu define and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// r = d ∘ d, the min-plus product of d with itself, in five versions with the same parameters and the same result:
//     r[i * n + j] = min over k of d[i * n + k] + d[k * n + j]   for 0 ≤ i, j, k < n.
// With d[i * n + j] as the length of the edge from i to j, r holds the lengths of the shortest ways of two edges.
//
// d and r are n × n, dense, row-major, in host memory, and do not overlap. d stays as it is, and every element of r is
// written, whatever it held before.
//
// Values: each element of d is finite or +infinity, which says that there is no edge; never NaN, never -infinity. Sums
// are those of single precision. Each is rounded once and the minimum not at all, so that the result is the same to the
// last bit in whatever order the terms are taken.
//
// n is counted in elements: any n from 1 to 16384, whether or not it is a multiple of anything.
// n ≤ 0: there are no elements. Nothing is launched, and r is not touched.

// One thread for each element of r. threadIdx.x chooses its row, so that neighbouring threads load a column of d. The
// starter has it.
void step_v0(float* r, const float* d, int n);

// As v0, one thread for each element of r, but neighbouring threads load neighbouring elements of d.
void step_v1(float* r, const float* d, int n);

// What versions 2 and 3 load from. With nn as n, rounded up to a multiple of 64: copies[0 … nn²) is d, padded to
// nn × nn elements, and copies[nn² … 2 · nn²) is that, transposed. What d has not is +infinity.
void pad_and_transpose(float* copies, const float* d, int n);

// Each thread computes 8 elements of a row of r. For each k it loads 1 + 8 elements and uses the one 8 times: half the
// loads of version 1. With the padded copy no load needs a condition.
void step_1x8(float* r, const float* d, int n);

// Each thread computes 8 × 8 elements of r. For each k it loads 8 + 8 elements from global memory into registers and
// uses each of them 8 times. d is padded with +infinity to a multiple of 64 and stored a second time transposed, so
// that all the loads of a warp are in order. (What threads share in shared memory is version 3's.)
void step_v2(float* r, const float* d, int n);

// As v2, but the threads of a block share what they load: for 4 values of k at a time, or more, it lies in shared
// memory. Results stay in registers, and a warp waits at no more than three barriers for each 4 values of k.
void step_v3(float* r, const float* d, int n);

// As fast as you can make it.
void step_v4(float* r, const float* d, int n);

// --- Prelab: prelab.cpp
//
// Questions to answer before you write a kernel, in plain host code. Results fit their types; what is computed on the
// way does not always fit an int.

// Exercise 14 of the chapter. The kernel `neurons` of the task sheet runs with `firing` threads that have v > 30 and
// `quiet` threads that have not; all of them have a neuron. How many additions, subtractions and multiplications of
// floats are done in all, and how many loads and stores of single elements of global memory? Count what the source
// says; comparisons and the computing of indices are not counted.
int neuron_operations(int firing, int quiet);
int neuron_accesses(int firing, int quiet);

// How many additions and minima are needed for n ≥ 1 nodes, if each of the n³ terms takes one of each?
double step_operations(int n);

// A device did that many operations in that time, with a clock of `gigahertz`. How many is that in each cycle; and
// which part, between 0 and 1, of what its `units` could do, if each does one operation a cycle?
double operations_per_cycle(double operations, double seconds, double gigahertz);
double share_of_peak(double operations, double seconds, double gigahertz, int units);

// A prediction: how many sectors will all kernels of step_v0, v1, v2 or v3 (version 0 to 3) load for n nodes, a
// multiple of 64? With the blocks of the task sheet; where d is padded, it is read once, in order.
long long step_sectors(int version, int n);
