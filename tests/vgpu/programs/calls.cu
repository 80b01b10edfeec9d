// Function pointers, virtual functions, recursion, large arguments.
#define KERNEL extern "C" __global__ void

using Operation = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation table[3] = {add, subtract, multiply};
__constant__ Operation constant_table[2] = {subtract, multiply};
__device__ Operation chosen;

// Trap 9: globals initialised with function addresses.
KERNEL call_table(int* out) {
    const int t = threadIdx.x;
    out[t] = table[t % 3](out[t], 7) + constant_table[t & 1](t, 2);
}
KERNEL call_chosen_here(int* out, int which) {
    const Operation f = which ? add : subtract;
    out[threadIdx.x] = f(threadIdx.x, out[0]);
}
KERNEL choose_function() { chosen = multiply; }
KERNEL call_chosen(int* out) { out[threadIdx.x] = chosen(threadIdx.x, 3); }
KERNEL call_pointer(int* out, Operation f) { out[threadIdx.x] = f(threadIdx.x, 5); }
KERNEL call_wrong_type(int* out) {
    using Other = float (*)(float);
    const Other f = reinterpret_cast<Other>(table[out[0]]);
    out[threadIdx.x] = static_cast<int>(f(1.0f));
}
KERNEL call_by_some_lanes(int* out) {
    if (threadIdx.x % 4 == 1) out[threadIdx.x] = table[threadIdx.x % 3](out[threadIdx.x], 1);
}

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
    __device__ int corners() const override { return 4; }
};
struct Disc : Shape {
    int radius;
    __device__ explicit Disc(int r) : radius(r) {}
    __device__ int area() const override { return 3 * radius * radius; }
};
KERNEL call_virtual(int* out) {
    const int t = threadIdx.x;
    Square square(t);
    Disc disc(t);
    const Shape* shape = t % 3 ? static_cast<const Shape*>(&square) : &disc;
    out[t] = shape->area() * 10 + shape->corners();
}

struct Large {
    int v[300];
};
__device__ __noinline__ Large scaled(Large x, int factor) {
    for (int& i : x.v) i *= factor;
    return x;
}
KERNEL pass_large(int* out, int n) {
    Large x;
    for (int i = 0; i < 300; ++i) x.v[i] = out[i] + threadIdx.x;
    x = scaled(x, 3);
    if (threadIdx.x % 2) x = scaled(x, threadIdx.x);
    out[300 + threadIdx.x] = x.v[(threadIdx.x * 7 + n) % 300];
}
struct __align__(16) Mixed {
    char c;
    double d;
    short s[3];
};
__device__ __noinline__ Mixed swapped(char c, Mixed m, double d) {
    Mixed r = m;
    r.c = m.c + c;
    r.d = d - m.d;
    r.s[2] = m.s[0];
    return r;
}
KERNEL pass_mixed(double* out) {
    Mixed m{static_cast<char>(threadIdx.x), 0.5, {static_cast<short>(threadIdx.x * 2), 1, 2}};
    m = swapped(3, m, 10.0);
    out[threadIdx.x] = m.c * 1000 + m.d + m.s[2] * 100;
}

// Trap 7: a dynamically indexed struct parameter, of a kernel and of a function; recursion with local arrays.
struct Parameters {
    int v[8];
};
__device__ __noinline__ int element(Parameters p, int i) { return p.v[i & 7]; }
KERNEL index_parameter(Parameters p, int* out) {
    out[threadIdx.x] = p.v[threadIdx.x & 7] * 100 + element(p, threadIdx.x + 1);
}
__device__ __noinline__ int path(int depth, int t) {
    int here[4];
    for (int i = 0; i < 4; ++i) here[i] = depth * 10 + ((i + t) & 3);
    if (depth == 0) return here[t & 3];
    const int below = path(depth - 1, t + 1);
    return below + here[(t + depth) & 3];
}
KERNEL recurse_with_frames(int* out) { out[threadIdx.x] = path(threadIdx.x % 9, threadIdx.x); }
__device__ __noinline__ int sum_to(int n) { return n == 0 ? 0 : n + sum_to(n - 1) * 1; }
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL recurse_deeply(unsigned* out) {
    out[threadIdx.x] = ackermann(2, threadIdx.x) + ackermann(3, 3) * (threadIdx.x == 5);
}
__device__ __noinline__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }
__device__ bool (*parity)(int) = even;
KERNEL recurse_mutually(int* out) { out[threadIdx.x] = parity(threadIdx.x) ? 1 : 0; }

// Guarded calls and barriers: nvcc writes them as branches, inline assembly may guard the instruction itself.
KERNEL guarded_barrier(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    const int active = out[0];  // 1 for all threads
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %0, 0;\n\t@p bar.sync 0;\n\t@!p bar.sync 1;\n\t}" ::"r"(active) : "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
KERNEL guarded_shuffle(int* out) {
    int v = threadIdx.x;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.s32 p, %1, 16;\n\t@p shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffff;\n\t}"
                 : "+r"(v)
                 : "r"(v)
                 : "memory");
    out[threadIdx.x] = v;
}
