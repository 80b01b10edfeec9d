// What NVIDIA's own libraries take for the work of the labs: a ruler for the reference solutions.
#include <cublas_v2.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "timing.cuh"

int main() {
    const int n = 4096, elements = 1 << 26;
    float *A = device_floats(n * n), *B = device_floats(n * n), *C = device_floats(n * n);
    cublasHandle_t handle;
    cublasCreate(&handle);
    const float one = 1, zero = 0;
    const double product_ms = kernel_ms([&] {
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n);  // no TF32 by default
    });
    row("cuBLAS, product in single precision", "4096 × 4096", product_ms, 2e-12 * n * n * n, "TFLOP/s");

    float *x = device_floats(elements), *out = device_floats(elements);
    int *whole = reinterpret_cast<int*>(x), *sums = reinterpret_cast<int*>(out);
    const auto timed = [&](const char* what, double bytes, auto work) {
        std::size_t room = 0;
        CHECK(work(nullptr, room));
        void* scratch;
        CHECK(cudaMalloc(&scratch, room));
        row(what, "2^26", kernel_ms([&] { CHECK(work(scratch, room)); }), 1e-9 * bytes, "GB/s");
        CHECK(cudaFree(scratch));
    };
    timed("CUB, sum of floats", 4.0 * elements,
          [&](void* scratch, std::size_t& room) { return cub::DeviceReduce::Sum(scratch, room, x, out, elements); });
    timed("CUB, scan of ints", 8.0 * elements, [&](void* scratch, std::size_t& room) {
        return cub::DeviceScan::InclusiveSum(scratch, room, whole, sums, elements);
    });
    row("copy", "2^26", kernel_ms([&] { cudaMemcpyAsync(out, x, elements * 4ull, cudaMemcpyDeviceToDevice); }),
        8e-9 * elements, "GB/s");
}
