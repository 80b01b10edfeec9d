// Mistakes of host code, one a check. A comment at the end of a line names what the device must find there.
#include "checks.cuh"

__global__ void nothing() {}
__constant__ float table[8];
__device__ float total;

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

void variable_to() {
    const float host[8] = {};
    const cudaError_t status = cudaMemcpy(table + 1, host, 4, cudaMemcpyHostToDevice);  // memcheck/variable-address
    EXPECT(status == cudaErrorInvalidValue);
}

void variable_from() {
    float host = 0;
    const cudaError_t status = cudaMemcpyAsync(&host, &total, 4, cudaMemcpyDeviceToHost);  // memcheck/variable-address
    EXPECT(status == cudaErrorInvalidValue);
}

void variable_default() {
    const float host[8] = {};
    const cudaError_t status = cudaMemcpy(table, host, sizeof host, cudaMemcpyDefault);  // memcheck/variable-address
    EXPECT(status == cudaSuccess);
}

void variable_set() {
    const cudaError_t status = cudaMemset(&total, 0, sizeof total);  // memcheck/variable-address
    EXPECT(status == cudaErrorInvalidValue);
}

// The copy goes over the frame of its caller, which therefore must not return.
__attribute__((noinline)) void over_stack() {
    int *device = allocate(), *to = nullptr;
    OK(cudaMemset(device, 0, 1024));
    cudaMemcpy(&to, device, 1024, cudaMemcpyDeviceToHost);  // memcheck/copy-out-of-bounds
    std::puts("ok");
    std::fflush(stdout);
    std::_Exit(0);
}

void unmapped() {
    float host = 0;
    void* device = nullptr;
    const cudaError_t status = cudaHostGetDevicePointer(&device, &host, 0);  // memcheck/unmapped-host
    EXPECT(status == cudaErrorInvalidValue);
}

void handles() {
    cudaStream_t streams[3];
    cudaEvent_t event;
    for (cudaStream_t& stream : streams) OK(cudaStreamCreate(&stream));  // two streams
    OK(cudaEventCreate(&event));                                         // an event
    OK(cudaStreamDestroy(streams[0]));
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

void freed_by_host() {
    int* pointer = allocate();
    std::free(pointer);  // launch/host-dereference
    std::puts("never");
}

// Nothing of this is a mistake.
void clean() {
    std::vector<int> host(256);
    int local[256];
    int *device = upload(host), *pinned = nullptr, *managed = nullptr;
    OK(cudaMemcpy(local, device, sizeof local, cudaMemcpyDeviceToHost));
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
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    OK(cudaMemsetAsync(device = upload(host), 0, 1024, cudaStreamPerThread));
    OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(event));
    OK(cudaFree(device));
    void* pooled = nullptr;
    OK(cudaMallocAsync(&pooled, 64, nullptr));
    OK(cudaFreeAsync(pooled, nullptr));
}

int main(int argc, char** argv) {
    return run_check(argc, argv, {
        {"double free", double_free}, {"bad free", bad_free}, {"beyond", beyond}, {"beyond symbol", beyond_symbol},
        {"direction", direction}, {"accepted direction", accepted_direction}, {"unchecked", unchecked},
        {"replaced", replaced}, {"looked", looked}, {"result", result}, {"leak", leak}, {"reset", reset},
        {"gives up", gives_up}, {"dereference", dereference},
        {"variable to", variable_to}, {"variable from", variable_from}, {"variable default", variable_default},
        {"variable set", variable_set}, {"over stack", over_stack}, {"unmapped", unmapped}, {"handles", handles}, {"freed by host", freed_by_host},
        {"clean", clean},
    });
}
