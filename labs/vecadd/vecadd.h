// The contract of lab vecadd: what your vecadd.cu and prelab.cpp define and the tests call.
#pragma once

// The device does the work, and host code only copies. Whatever a function returns or writes to an output is what a
// kernel wrote to device memory, and what goes to the device is the inputs as they are; padding and sizes may go with
// them.

// The most streams that vecadd_streams takes.
constexpr int MAX_STREAMS = 16;

// The most elements that one thread of a kernel may add, in all four versions. One is enough.
constexpr int ELEMENTS_PER_THREAD = 4;

// Each of the first four functions adds two vectors: c[i] = a[i] + b[i] for 0 ≤ i < n, in single precision, on the
// device.
//
// a, b and c are arrays of n elements in ordinary host memory, allocated by the caller; they do not overlap. a and b
// stay as they are. Every element of c is written, and is there when the function returns. One addition is rounded
// once, so that there is one right result for each element, to the last bit.
//
// n counts elements, up to 2^30, and need not be a multiple of anything. Where n ≤ 0, nothing is launched and c is not
// touched.
//
// The grid grows with n: no thread adds more than ELEMENTS_PER_THREAD elements. Each element of a and b is loaded once
// and each element of c stored once, by neighbouring threads together. Each call allocates the memory that it needs
// and frees it again. Your code waits until the device is done before it reads a result or frees memory, with a call
// that is made for waiting; that cudaFree and its kin may wait as well does not count.

// Given. Arrays in device memory (cudaMalloc). a and b are copied to the device once, c is copied back once.
void vecadd_copies(const float* a, const float* b, float* c, int n);

// Arrays in managed memory (cudaMallocManaged), which host code fills and reads through the same pointers that the
// kernel gets. No copies through CUDA calls, and no memory of another kind from them; prefetching
// (cudaMemPrefetchAsync) and advice (cudaMemAdvise) are allowed.
void vecadd_managed(const float* a, const float* b, float* c, int n);

// Arrays in page-locked host memory (cudaHostAlloc or cudaHostRegister) that the kernel reaches through the pointers
// that cudaHostGetDevicePointer gives: zero-copy. No copies through CUDA calls, and no memory of another kind from
// them.
void vecadd_mapped(const float* a, const float* b, float* c, int n);

// The vectors are cut into `streams` pieces of neighbouring elements, ⌈n / streams⌉ elements or fewer each, and each
// piece is copied to the device, added and copied back in a stream of its own, which the function creates and destroys.
// The default stream has no work. The copies are asynchronous, and the host memory they use is page-locked, so that
// copies to the device, kernels and copies back of different streams run at the same time. Where n < streams, some
// pieces are empty, and nothing is launched for those.
//
// All of this is done `times` ≥ 1 times, as in a program whose arrays get new values again and again; here they stay
// the same. What costs time and serves again is made once: page-locked memory, device memory and streams, however large
// `times` is. What a new value would need is done each time: every element of a and b goes to the device, is added, and
// comes back.
//   streams < 1 or streams > MAX_STREAMS: nothing is launched and c is not touched.
void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times);

// How many of the n elements of x are greater than `limit`? The device counts among the first n - on_host elements, in
// a __managed__ variable; neighbouring threads look at neighbouring elements. Meanwhile, between launch and wait, the
// host counts among the last on_host elements. The function returns the sum.
//
// x lies in ordinary host memory and stays as it is; 0 ≤ on_host ≤ n. Of x, the device gets what it counts in and no
// more, in device memory. The host does not touch the variable between launch and wait, and nothing but the arguments
// says what it begins with: the function may be called again and again. Where n ≤ 0, it returns 0; where n = on_host,
// nothing is launched.
int count_above(const float* x, int n, float limit, int on_host);

// --- Prelab ---------------------------------------------------------------------------------------------------------

// Exercise 13 of the textbook. The ratio of arithmetic operations to accesses to global memory (CGMA); and the
// performance in GFLOP/s of a kernel that only waits for memory, when each of its accesses is of 4 bytes and the memory
// gives gigabytes_per_second.
double operations_per_access(double operations, double accesses);
double gflops(double gigabytes_per_second, double ratio);

// Predictions. Vectors a and b of n floats are added into c, n a multiple of 8, by `launches` launches of the same
// kernel, one after the other. All data begin and end in the host's memory. How many bytes cross the link between host
// and device in all, in both directions together: with copies, before the first launch and after the last one; and with
// mapped memory?
long long bytes_with_copies(long long n, int launches);
long long bytes_mapped(long long n, int launches);

// In one stream, the copies to the device take `to_device` microseconds in all, the kernel `kernel`, and the copy back
// `to_host`. How long does all of it take with `streams` ≥ 1 equal pieces, each in a stream of its own, when copies to
// the device, kernels and copies back of different pieces run at the same time, but only one of each kind? Leave the
// fixed cost of copies and launches aside: what is off by a quarter or less is right.
double streams_time(double to_device, double kernel, double to_host, int streams);
