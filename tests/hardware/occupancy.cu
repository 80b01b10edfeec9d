// The product with tiles of each width: the larger tile wins, although occupancy stays the same.
#include "../../reference/occupancy/occupancy.cu"
#include "timing.cuh"

int main() {
    const int n = 2048;
    const std::size_t count = static_cast<std::size_t>(n) * n;
    float *A = device_floats(count), *B = device_floats(count), *C = device_floats(count);
    for (const int width : {4, 8, 16, 32}) {
        CHECK(cudaMemcpyToSymbol(block_width, &width, sizeof width));
        const dim3 block(width, width), grid(n / width, n / width);
        const int bytes = requiredSM(width * width);
        char what[64];
        std::snprintf(what, sizeof what, "tiles of %d × %d", width, width);
        row(what, "2048 × 2048", kernel_ms([&] { matmul_kernel<<<grid, block, bytes>>>(A, B, C, n, n); }),
            2e-12 * count * n, "TFLOP/s");
    }
}
