// Slow kernels and their fast counterparts. The tests look for the numbers after "place".
#define KERNEL extern "C" __global__ void

KERNEL matmul_rows(const float* A, const float* B, float* C, int n) {  // neighbouring threads have neighbouring rows
    const int row = blockIdx.x * 16 + threadIdx.x, column = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += A[row * n + i] * B[i * n + column];  // place 1
    }
    C[row * n + column] = sum;
}
KERNEL matmul_naive(const float* A, const float* B, float* C, int n) {
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += A[row * n + i] * B[i * n + column];  // place 2
    }
    C[row * n + column] = sum;
}
KERNEL matmul_tiled(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        a[threadIdx.y][threadIdx.x] = A[row * n + tile + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
KERNEL transpose_naive(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x];  // place 3
}
template <int Width>
__device__ __forceinline__ void transpose_tile(const float* in, float* out, int n) {
    __shared__ float tile[32][Width];
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8) tile[i][threadIdx.x] = in[(y + i) * n + x + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        out[(x + i) * n + y + threadIdx.x] = tile[threadIdx.x][i];  // place 4
    }
}
KERNEL transpose_conflicts(const float* in, float* out, int n) {
    transpose_tile<32>(in, out, n);
}
KERNEL transpose_padded(const float* in, float* out, int n) { transpose_tile<33>(in, out, n); }
KERNEL odd_and_even(float* data, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = data[i];
    if (threadIdx.x % 2) {  // place 5
        for (int k = 0; k < rounds; ++k) v = v * 1.5f + 1 / (v + k);
    } else {
        for (int k = 0; k < rounds; ++k) v = v * 0.5f - 2 / (v + k);
    }
    data[i] = v;
}
KERNEL warps_apart(float* data, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = data[i];
    if (threadIdx.x / 32 % 2) {
        for (int k = 0; k < rounds; ++k) v = v * 1.5f + 1 / (v + k);
    } else {
        for (int k = 0; k < rounds; ++k) v = v * 0.5f - 2 / (v + k);
    }
    data[i] = v;
}
KERNEL trips_by_lane(float* data, int rounds) {  // one lane of each warp iterates far more often
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = data[i];
    const int n = threadIdx.x % 32 == 0 ? rounds : rounds / 20;
    for (int k = 0; k < n; ++k) v = v * 1.5f + 1 / (v + k);  // place 6
    data[i] = v;
}
KERNEL copy(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
KERNEL stencil(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
KERNEL much_shared(const float* in, float* out, int n) {  // place 7
    __shared__ float tile[11000];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += in[(i + k * 1024) % (1 << 18)];
    out[i] = sum + tile[blockDim.x - 1 - threadIdx.x];
}

KERNEL count_in_bins(const float* in, float* out, int bins) {
    __shared__ int own[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int bin = static_cast<int>(in[i]) + threadIdx.x % bins;
    atomicAdd(reinterpret_cast<int*>(out) + bin, 1);
    out[i] = atomicAdd(own + bin % 32, 1);
}
// A remainder by a number that the compiler does not know, again and again.
KERNEL divide(const float* in, float* out, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = static_cast<unsigned>(in[i]) + 12345;
    for (int k = 0; k < rounds; ++k) x = x % (rounds + 7) + 12345;
    out[i] = static_cast<float>(x);
}
// The same with products.
KERNEL multiply_indices(const float* in, float* out, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i;
    for (int k = 0; k < rounds; ++k) x = x * (rounds + 7) + i;
    out[i] = x == -1 ? 0 : in[i];
}
