// What shuffles gain over shared memory in the scan of a block, and what a whole scan takes beside a copy.
#include "../../reference/scan/scan.cu"
#include "timing.cuh"

namespace {

// All eight steps in shared memory, in place: two barriers a step.
__global__ void shared_scan_kernel(const int* x, int* out, int n) {
    __shared__ int sums[BLOCK_SIZE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < BLOCK_SIZE; distance *= 2) {
        const int lower = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += lower;
        __syncthreads();
    }
    if (i < n) out[i] = sums[t];
}

// As the task sheet has it: the sums of blocks are scanned in the same way, and theirs again, until there is one block.
void scan_in_levels(const int* x, int* out, int n) {
    const int blocks = blocks_for(n);
    int *sums, *scanned_sums;
    CHECK(cudaMalloc(&sums, blocks * sizeof(int)));
    block_scan_kernel<<<blocks, BLOCK_SIZE>>>(x, out, sums, n);
    if (blocks > 1) {
        CHECK(cudaMalloc(&scanned_sums, blocks * sizeof(int)));
        scan_in_levels(sums, scanned_sums, blocks);
        add_sums_kernel<<<blocks, BLOCK_SIZE>>>(out, scanned_sums, out, n);
        CHECK(cudaFree(scanned_sums));
    }
    CHECK(cudaFree(sums));
}

}  // namespace

int main() {
    const int n = 1 << 26;
    int *x = reinterpret_cast<int*>(device_floats(n)), *out = reinterpret_cast<int*>(device_floats(n));
    int* sums = reinterpret_cast<int*>(device_floats(n / BLOCK_SIZE));
    const auto show = [&](const char* what, double ms) { row(what, "2^26", ms, 8e-9 * n, "GB/s"); };
    show("copy", kernel_ms([&] { cudaMemcpyAsync(out, x, n * 4ull, cudaMemcpyDeviceToDevice); }));
    show("warps, by shuffles", kernel_ms([&] { warp_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(x, out, n); }));
    show("blocks, by shuffles", kernel_ms([&] { block_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(x, out, sums, n); }));
    show("blocks, in shared memory", kernel_ms([&] { shared_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(x, out, n); }));
    show("adding the sums", kernel_ms([&] { add_sums_kernel<<<blocks_for(n), BLOCK_SIZE>>>(out, sums, out, n); }));
    show("all, with its allocations", kernel_ms([&] { scan_in_levels(x, out, n); }));
    unsigned long long* published = reinterpret_cast<unsigned long long*>(sums);
    const int parts = (n - 1) / PART + 1;
    show("in one launch", kernel_ms([&] {
             CHECK(cudaMemsetAsync(published, 0, (parts + 1) * sizeof(*published)));
             unsigned* const begun = reinterpret_cast<unsigned*>(published + parts);
             scan_kernel<<<parts, BLOCK_SIZE>>>(x, out, published, begun, n);
         }));
    show("in one launch, with its allocation", kernel_ms([&] { scan_on_device(x, out, n); }));
}
