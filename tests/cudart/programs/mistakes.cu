// Mistakes of host code, one a check. A comment at the end of a line names what the device must find there.
#include "checks.cuh"

__global__ void nothing() {}
__constant__ float table[8];

__attribute__((noinline)) int* allocate() {
    int* pointer = nullptr;
    cudaMalloc(&pointer, 1024);  // allocation
    return pointer;
}

void double_free() {
    int* pointer = allocate();
    cudaFree(pointer);  // first free
    cudaFree(pointer);  // memcheck/double-free
    cudaGetLastError();
}

void bad_free() {
    int *pointer = allocate(), *pinned = nullptr;
    OK(cudaMallocHost(&pinned, 64));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(pinned));  // memcheck/bad-free
    OK(cudaFreeHost(pinned));
    OK(cudaFree(pointer));
}

void beyond() {
    int* pointer = allocate();
    std::vector<int> host(1024);
    cudaMemcpy(pointer, host.data(), 4096, cudaMemcpyHostToDevice);  // memcheck/copy-out-of-bounds
    cudaGetLastError();
    OK(cudaFree(pointer));
}

void beyond_symbol() {
    const float host[16] = {};
    cudaMemcpyToSymbol(table, host, sizeof host);  // memcheck/copy-out-of-bounds
    cudaGetLastError();
}

void direction() {
    int* pointer = allocate();
    std::vector<int> host(256);
    const cudaError_t status = cudaMemcpy(host.data(), pointer, 1024, cudaMemcpyHostToDevice);  // memcheck/copy-direction
    EXPECT(status == cudaErrorInvalidValue);
    OK(cudaFree(pointer));
}

void accepted_direction() {
    int *from = allocate(), *to = allocate();
    const cudaError_t status = cudaMemcpy(to, from, 1024, cudaMemcpyDeviceToHost);  // memcheck/copy-direction
    EXPECT(status == cudaSuccess);
    OK(cudaFree(from));
    OK(cudaFree(to));
}

void unchecked() {
    nothing<<<1, 2048>>>();  // launch/configuration launch/unchecked
    OK(cudaDeviceSynchronize());
}

void replaced() {
    nothing<<<1, 2048>>>();  // launch/configuration launch/unchecked
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMalloc(static_cast<void**>(nullptr), 4));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
}

void looked() {
    nothing<<<1, 2048>>>();  // launch/configuration
    EXPECT_ERROR(cudaErrorInvalidValue, cudaPeekAtLastError());
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
}

void result() {
    const cudaError_t status = cudaLaunchKernel(nothing, dim3(1), dim3(2048), nullptr, 0, nullptr);  // launch/configuration
    EXPECT(status == cudaErrorInvalidValue);
}

void leak() {
    allocate(), allocate();
    OK(cudaDeviceSynchronize());
}

void reset() {
    allocate();
    OK(cudaDeviceReset());
}

void gives_up() {
    allocate();
    std::exit(3);
}

void dereference() {
    volatile int* pointer = allocate();
    pointer[2] = 1;  // launch/host-dereference
}

// Nothing of this is a mistake.
void clean() {
    std::vector<int> host(256);
    int *device = upload(host), *pinned = nullptr, *managed = nullptr;
    OK(cudaMallocHost(&pinned, 1024));
    OK(cudaMallocManaged(&managed, 1024));
    for (int* other : {pinned, managed}) {
        OK(cudaMemcpy(device, other, 1024, cudaMemcpyHostToDevice));
        OK(cudaMemcpy(other, device, 1024, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(other, device, 1024, cudaMemcpyDefault));
        OK(cudaMemcpy(other, device, 1024, cudaMemcpyDeviceToDevice));
        OK(cudaMemset(other, 0, 1024));
    }
    OK(cudaMemcpyToSymbol(table, host.data(), sizeof table));
    nothing<<<1, 32>>>();
    OK(cudaGetLastError());
    OK(cudaFree(nullptr));
    OK(cudaFreeHost(nullptr));
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    void* pooled = nullptr;
    OK(cudaMallocAsync(&pooled, 64, nullptr));
    OK(cudaFreeAsync(pooled, nullptr));
}

int main(int argc, char** argv) {
    return run_check(argc, argv, {
        {"double free", double_free}, {"bad free", bad_free}, {"beyond", beyond}, {"beyond symbol", beyond_symbol},
        {"direction", direction}, {"accepted direction", accepted_direction}, {"unchecked", unchecked},
        {"replaced", replaced}, {"looked", looked}, {"result", result}, {"leak", leak}, {"reset", reset},
        {"gives up", gives_up}, {"dereference", dereference}, {"clean", clean},
    });
}
