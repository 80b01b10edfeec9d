// Memory that host and device share, and memory in other forms than one plain range. Linked with NVIDIA's own runtime,
// every check is meant to hold on a real GPU with concurrent managed access too.
#include <cstdint>
#include <cstring>

#include "checks.cuh"

__managed__ int counter = 7;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void count(int by) { counter += by; }

__global__ void sum_table(float* result) { *result = table[0] + table[1] + table[2] + table[3]; }

__global__ void add_one(int* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

struct Node {
    int value;
    Node* next;
};

__global__ void sum_list(const Node* node, int* result) {
    int sum = 0;
    for (; node != nullptr; node = node->next) sum += node->value;
    *result = sum;
}

const cudaMemLocation device0{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};

void check_managed() {
    const int n = 100'000;
    int* x = nullptr;
    OK(cudaMallocManaged(&x, n * sizeof(int)));
    for (int i = 0; i < n; ++i) x[i] = i;
    OK(cudaMemPrefetchAsync(x, n * sizeof(int), device0, 0));
    add_one<<<(n + 255) / 256, 256>>>(x, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(x[i] == i + 1);
    x[5] = 100;  // and back
    add_one<<<1, 32>>>(x, 32);
    OK(cudaDeviceSynchronize());
    EXPECT(x[5] == 101 && x[31] == 33 && x[32] == 33);

    // All copies know it.
    std::vector<int> back(n);
    OK(cudaMemcpy(back.data(), x, n * sizeof(int), cudaMemcpyDefault));
    EXPECT(back[5] == 101 && back[n - 1] == n);
    int* y = nullptr;
    OK(cudaMallocManaged(&y, n * sizeof(int), cudaMemAttachGlobal));
    OK(cudaMemcpy(y, x, n * sizeof(int), cudaMemcpyDeviceToDevice));
    EXPECT(y[5] == 101);
    OK(cudaMemset(y, 0, 8));
    OK(cudaDeviceSynchronize());
    EXPECT(y[0] == 0 && y[1] == 0 && y[2] == 4);
    int* device = upload(std::vector<int>{41});
    OK(cudaMemcpy(y, device, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(y[0] == 41);

    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, x + 1));
    EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.device == 0);
    EXPECT(attributes.devicePointer == x + 1 && attributes.hostPointer == x + 1);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocManaged(&y, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocManaged(&y, 4, 9));
    cudaGetLastError();
    OK(cudaFree(x));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(x));
}

void check_managed_structures() {
    Node *first = nullptr, *previous = nullptr;
    int* result = nullptr;
    for (int i = 1; i <= 10; ++i) {
        Node* node = nullptr;
        OK(cudaMallocManaged(&node, sizeof(Node)));
        *node = {i, nullptr};
        (previous ? previous->next : first) = node;
        previous = node;
    }
    OK(cudaMallocManaged(&result, sizeof(int)));
    sum_list<<<1, 1>>>(first, result);
    OK(cudaDeviceSynchronize());
    EXPECT(*result == 55);
}

void check_managed_variables() {
    EXPECT(counter == 7 && table[3] == 4);
    counter = 10;
    count<<<1, 1>>>(5);
    OK(cudaDeviceSynchronize());
    EXPECT(counter == 15);
    table[0] = 11;
    float* result = upload(std::vector<float>{0});
    sum_table<<<1, 1>>>(result);
    EXPECT(download(result, 1)[0] == 20);
    int value = 0;
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT(value == 15);
    std::size_t bytes = 0;
    OK(cudaGetSymbolSize(&bytes, table));
    EXPECT(bytes == 16);
}

void check_advice() {
    char* x = nullptr;
    OK(cudaMallocManaged(&x, 1 << 20));
    int value = -7;
    const auto ask = [&](cudaMemRangeAttribute what) {
        OK(cudaMemRangeGetAttribute(&value, sizeof value, what, x, 1 << 20));
        return value;
    };
    EXPECT(ask(cudaMemRangeAttributeReadMostly) == 0);
    OK(cudaMemAdvise(x, 1 << 20, cudaMemAdviseSetReadMostly, device0));
    EXPECT(ask(cudaMemRangeAttributeReadMostly) == 1);
    OK(cudaMemAdvise(x, 1 << 20, cudaMemAdviseUnsetReadMostly, device0));
    EXPECT(ask(cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
    OK(cudaMemAdvise(x, 1 << 20, cudaMemAdviseSetPreferredLocation, host));
    EXPECT(ask(cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
    OK(cudaMemAdvise(x, 1 << 20, cudaMemAdviseSetAccessedBy, device0));
    int accessors[2] = {-7, -7};
    OK(cudaMemRangeGetAttribute(accessors, sizeof accessors, cudaMemRangeAttributeAccessedBy, x, 1 << 20));
    EXPECT(accessors[0] == 0 && accessors[1] == cudaInvalidDeviceId);
    OK(cudaMemPrefetchAsync(x, 1 << 20, device0, 0));
    EXPECT(ask(cudaMemRangeAttributeLastPrefetchLocation) == 0);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPrefetchAsync(&value, 4, device0, 0));
}

void check_mapped() {
    const int n = 5000;
    int *x = nullptr, *mapped = nullptr;
    OK(cudaHostAlloc(&x, n * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < n; ++i) x[i] = 3 * i;
    OK(cudaHostGetDevicePointer(&mapped, x, 0));
    add_one<<<(n + 127) / 128, 128>>>(mapped, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(x[i] == 3 * i + 1);
    unsigned flags = 0;
    OK(cudaHostGetFlags(&flags, x));
    EXPECT((flags & cudaHostAllocMapped) != 0);
    // With unified addresses, without a flag and by its own name as well.
    int* y = nullptr;
    OK(cudaMallocHost(&y, 4));
    *y = 1;
    add_one<<<1, 1>>>(y, 1);
    OK(cudaDeviceSynchronize());
    EXPECT(*y == 2);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, x));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == x && attributes.hostPointer == x);
    OK(cudaFreeHost(x));
    OK(cudaFreeHost(y));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaHostGetDevicePointer(&mapped, &flags, 0));
}

int in_bss[3000];

void check_registered() {
    const int n = 100'000;
    int* x = static_cast<int*>(std::malloc(n * sizeof(int)));
    for (int i = 0; i < n; ++i) x[i] = i;
    OK(cudaHostRegister(x, n * sizeof(int), cudaHostRegisterMapped));
    EXPECT(x[n - 1] == n - 1);
    int* mapped = nullptr;
    OK(cudaHostGetDevicePointer(&mapped, x, 0));
    add_one<<<(n + 255) / 256, 256>>>(mapped, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(x[i] == i + 1);
    EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(x, 4, 0));
    OK(cudaHostUnregister(x));
    EXPECT_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(x));
    cudaGetLastError();
    EXPECT(x[7] == 8);
    OK(cudaHostRegister(x, n * sizeof(int), 0));  // again, what is there now
    add_one<<<1, 32>>>(x, 32);
    OK(cudaDeviceSynchronize());
    EXPECT(x[7] == 9 && x[32] == 33);
    OK(cudaHostUnregister(x));
    std::free(x);

    // Neighbours in one page; a variable of the program.
    std::vector<int> a(100, 1), b(100, 2);
    OK(cudaHostRegister(a.data(), 400, 0));
    OK(cudaHostRegister(b.data(), 400, 0));
    OK(cudaHostRegister(in_bss, sizeof in_bss, 0));
    add_one<<<1, 128>>>(a.data(), 100);
    add_one<<<1, 128>>>(b.data(), 100);
    add_one<<<3, 1024>>>(in_bss, 3000);
    OK(cudaDeviceSynchronize());
    EXPECT(a[99] == 2 && b[0] == 3 && b[99] == 3 && in_bss[2999] == 1);
    OK(cudaHostUnregister(a.data()));
    add_one<<<1, 128>>>(b.data(), 100);
    OK(cudaDeviceSynchronize());
    EXPECT(b[99] == 4);
    OK(cudaHostUnregister(b.data()));
    OK(cudaHostUnregister(in_bss));
}

int main(int argc, char** argv) {
    return run_check(argc, argv, {
        {"managed", check_managed}, {"managed structures", check_managed_structures},
        {"managed variables", check_managed_variables}, {"advice", check_advice}, {"mapped", check_mapped},
        {"registered", check_registered},
    });
}
