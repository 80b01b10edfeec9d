// Families of kernels on bytes and small integers, and on sparse matrices.
#include "families.cuh"

namespace {

// --- counting one byte
// --------------------------------------------------------------------------------------------------

__device__ void add_count(int count, int* out) {
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0) atomicAdd(out, count);
}

__global__ void bytes_single(const unsigned char* text, int* out, int n) {
    int count = 0;
    FOR_GRID(i, n) count += text[i] == '\n';
    add_count(count, out);
}

__global__ void bytes_words(const unsigned* text, int* out, int n) {
    int count = 0;
    FOR_GRID(i, n / 4) count += __popc(__vcmpeq4(text[i], 0x0a0a0a0a)) / 8;
    add_count(count, out);
}

__global__ void bytes_uint4(const uint4* text, int* out, int n) {
    int count = 0;
    FOR_GRID(i, n / 16) {
        const uint4 v = text[i];
        for (unsigned word : {v.x, v.y, v.z, v.w}) count += __popc(__vcmpeq4(word, 0x0a0a0a0a)) / 8;
    }
    add_count(count, out);
}

// --- histogram of 64 classes, with private copies
// -----------------------------------------------------------------------

__global__ void classes_warp(const unsigned* text, int* out, int words) {
    __shared__ int counts[8][64];
    for (int i = threadIdx.x; i < 512; i += 256) counts[i / 64][i % 64] = 0;
    __syncthreads();
    FOR_GRID(i, words) {
        const unsigned word = text[i];
        for (int b = 2; b < 32; b += 8) atomicAdd(&counts[threadIdx.x / 32][word >> b & 63], 1);
    }
    __syncthreads();
    if (threadIdx.x >= 64) return;
    int sum = 0;
    for (int w = 0; w < 8; ++w) sum += counts[w][threadIdx.x];
    atomicAdd(out + threadIdx.x, sum);
}

// Each of 64 threads has a byte for each class, and counts 240 bytes of text.
__global__ void classes_thread(const unsigned* text, int* out, int words) {
    __shared__ unsigned char counts[64][64];
    for (int i = threadIdx.x; i < 1024; i += 64) reinterpret_cast<unsigned*>(counts)[i] = 0;
    __syncthreads();
    const int first = blockIdx.x * 64 * 60 + threadIdx.x;
    for (int k = 0; k < 60 && first + k * 64 < words; ++k) {
        const unsigned word = text[first + k * 64];
        for (int b = 2; b < 32; b += 8) ++counts[word >> b & 63][threadIdx.x];
    }
    __syncthreads();
    int sum = 0;
    for (int t = 0; t < 64; ++t) sum += counts[threadIdx.x][(t + threadIdx.x) % 64];
    atomicAdd(out + threadIdx.x, sum);
}

void bytes() {
    const int n = 1 << 26;
    const auto text = filled<unsigned char>(n, hash);
    std::vector<int> classes(64);
    int newlines = 0;
    for (unsigned char each : text) ++classes[each >> 2], newlines += each == '\n';
    unsigned char* d = to_device(text);
    int* out = empty_array<int>(64);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^26", out, 1, [&](std::size_t) { return launches * newlines; }, launch);
    };
    show("bytes: single", [&] { bytes_single<<<132 * 8, 256>>>(d, out, n); });
    show("bytes: words", [&] { bytes_words<<<132 * 8, 256>>>((const unsigned*)d, out, n); });
    show("bytes: uint4", [&] { bytes_uint4<<<132 * 8, 256>>>((const uint4*)d, out, n); });
    const auto show_classes = [&](const char* what, auto launch) {
        measure(
            what, "2^26", out, 64, [&](std::size_t i) { return launches * classes[i]; }, launch);
    };
    const int words = n / 4, blocks = (words - 1) / (64 * 60) + 1;
    show_classes("classes: copy a warp", [&] { classes_warp<<<132 * 8, 256>>>((const unsigned*)d, out, words); });
    show_classes("classes: copy a thread", [&] { classes_thread<<<blocks, 64>>>((const unsigned*)d, out, words); });
    CHECK(cudaFree(d));
    CHECK(cudaFree(out));
}

// --- matrix of bytes times vector
// ---------------------------------------------------------------------------------------

__global__ void int8_single(const signed char* a, const signed char* x, int* y, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int k = threadIdx.x % 32; k < n; k += 32) sum += a[row * n + k] * x[k];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

__global__ void int8_dp4a(const int* a, const int* x, int* y, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int k = threadIdx.x % 32; k < n / 4; k += 32) sum = __dp4a(a[row * n / 4 + k], x[k], sum);
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

__global__ void int8_int4(const int4* a, const int4* x, int* y, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int k = threadIdx.x % 32; k < n / 16; k += 32) {
        const int4 u = a[row * n / 16 + k], v = x[k];
        sum = __dp4a(u.x, v.x, __dp4a(u.y, v.y, __dp4a(u.z, v.z, __dp4a(u.w, v.w, sum))));
    }
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

void int8() {
    const int n = 8192;
    const auto a = filled<signed char>(n * n, [](unsigned i) { return hash(i) % 15 - 7; });
    const auto x = filled<signed char>(n, [](unsigned i) { return hash(~i) % 13 - 6; });
    signed char *da = to_device(a), *dx = to_device(x);
    int* y = empty_array<int>(n);
    const auto check = [&](std::size_t row) {
        int sum = 0;
        for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "8192^2", y, n, check, launch); };
    show("int8: single", [&] { int8_single<<<n / 8, 256>>>(da, dx, y, n); });
    show("int8: dp4a", [&] { int8_dp4a<<<n / 8, 256>>>((const int*)da, (const int*)dx, y, n); });
    show("int8: int4", [&] { int8_int4<<<n / 8, 256>>>((const int4*)da, (const int4*)dx, y, n); });
    for (void* each : {(void*)da, (void*)dx, (void*)y}) CHECK(cudaFree(each));
}

// --- sparse matrix times vector
// -----------------------------------------------------------------------------------------

__global__ void spmv_scalar(const int* starts, const int* columns, const float* values, const float* x, float* y,
                            int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

__global__ void spmv_vector(const int* starts, const int* columns, const float* values, const float* x, float* y,
                            int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) sum += values[k] * x[columns[k]];
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

// Rows padded to one length, stored by columns.
__global__ void spmv_ell(const int* columns, const float* values, const float* x, float* y, int length, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = 0; k < length; ++k) sum += values[k * n + row] * x[columns[k * n + row]];
    y[row] = sum;
}

void spmv() {
    const int n = 1 << 17, longest = 47;
    std::vector<int> starts(n + 1), columns, ell_columns(n * longest);
    std::vector<float> values, ell_values(n * longest);
    for (int row = 0; row < n; ++row) {
        const int length = 16 + static_cast<int>(hash(row) % 32);
        for (int k = 0; k < length; ++k) {
            const unsigned number = static_cast<unsigned>(row * longest + k);
            columns.push_back(static_cast<int>(hash(number) % n));
            values.push_back(random_float(~number));
            ell_columns[k * n + row] = columns.back(), ell_values[k * n + row] = values.back();
        }
        starts[row + 1] = static_cast<int>(columns.size());
    }
    const auto x = filled<float>(n, random_float);
    int *ds = to_device(starts), *dc = to_device(columns), *dec = to_device(ell_columns);
    float *dv = to_device(values), *dev = to_device(ell_values), *dx = to_device(x), *y = empty_array<float>(n);
    const auto check = [&](std::size_t row) {
        double sum = 0;
        for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^17 rows", y, n, check, launch); };
    show("spmv: scalar", [&] { spmv_scalar<<<n / 256, 256>>>(ds, dc, dv, dx, y, n); });
    show("spmv: vector", [&] { spmv_vector<<<n / 8, 256>>>(ds, dc, dv, dx, y, n); });
    show("spmv: ell", [&] { spmv_ell<<<n / 256, 256>>>(dec, dev, dx, y, longest, n); });
    for (void* each : {(void*)ds, (void*)dc, (void*)dec, (void*)dv, (void*)dev, (void*)dx, (void*)y})
        CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    bytes();
    int8();
    spmv();
    return wrong;
}
