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

template <class T>
__global__ void add_index(cudaPitchedPtr volume, int width, int height, int depth) {
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    if (x >= width || y >= height || z >= depth) return;
    char* slice = static_cast<char*>(volume.ptr) + z * volume.pitch * height;
    reinterpret_cast<T*>(slice + y * volume.pitch)[x] += static_cast<T>(100 * z + 10 * y + x);
}

// A box of 5x3x2 ints inside one of 8x4x3, there and back, shifted.
void check_volumes() {
    const cudaExtent whole = make_cudaExtent(8 * sizeof(int), 4, 3);
    cudaPitchedPtr device;
    OK(cudaMalloc3D(&device, whole));
    EXPECT(device.pitch >= 32 && device.pitch % 32 == 0 && device.xsize == 32 && device.ysize == 4);
    OK(cudaMemset3D(device, 0, whole));
    add_index<int><<<1, dim3(8, 4, 3)>>>(device, 8, 4, 3);
    std::vector<int> host(8 * 4 * 3, -1);
    cudaMemcpy3DParms back{};
    back.srcPtr = device;
    back.dstPtr = make_cudaPitchedPtr(host.data(), 32, 8, 4);
    back.extent = whole;
    back.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&back));
    for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 8; ++x) EXPECT(host[(z * 4 + y) * 8 + x] == 100 * z + 10 * y + x);

    std::vector<int> box(5 * 3 * 2, -1);
    cudaMemcpy3DParms part{};
    part.srcPtr = device;
    part.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
    part.dstPtr = make_cudaPitchedPtr(box.data(), 20, 5, 3);
    part.extent = make_cudaExtent(5 * sizeof(int), 3, 2);
    part.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&part));
    OK(cudaDeviceSynchronize());
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 5; ++x)
                EXPECT(box[(z * 3 + y) * 5 + x] == 100 * (z + 1) + 10 * (y + 1) + x + 2);
    OK(cudaMemset3D(device, 0xFF, make_cudaExtent(4, 2, 3)));
    OK(cudaMemcpy3D(&back));
    EXPECT(host[0] == -1 && host[8] == -1 && host[16] == 20 && host[1] == 1 && host[64] == -1);
    OK(cudaFree(device.ptr));
}

void check_arrays() {
    cudaArray_t array, other;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&array, &channels, 6, 4));
    OK(cudaMallocArray(&other, &channels, 6, 4));
    std::vector<float> in(24), out(24, -1);
    for (int i = 0; i < 24; ++i) in[i] = i;
    OK(cudaMemcpy2DToArray(array, 0, 0, in.data(), 24, 24, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(out.data(), 24, array, 0, 0, 24, 4, cudaMemcpyDeviceToHost));
    EXPECT(in == out);
    OK(cudaMemcpy2DArrayToArray(other, 4, 1, array, 0, 0, 8, 2));
    OK(cudaMemcpy2DFromArray(out.data(), 24, other, 4, 1, 8, 2, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 0 && out[1] == 1 && out[6] == 6 && out[7] == 7);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy2DToArray(array, 4, 0, in.data(), 24, 24, 4, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy2DToArray(array, 0, 2, in.data(), 24, 24, 3, cudaMemcpyHostToDevice));
    cudaGetLastError();
    cudaExtent extent;
    cudaChannelFormatDesc asked;
    unsigned flags = 7;
    OK(cudaArrayGetInfo(&asked, &extent, &flags, array));
    EXPECT(asked.x == 32 && asked.y == 0 && asked.f == cudaChannelFormatKindFloat);
    EXPECT(extent.width == 6 && extent.height == 4 && extent.depth == 0 && flags == 0);
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(other));

    // Three dimensions, by cudaMemcpy3D: the width counts elements.
    cudaArray_t volume;
    OK(cudaMalloc3DArray(&volume, &channels, make_cudaExtent(3, 4, 2)));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(in.data(), 12, 3, 4);
    copy.dstArray = volume;
    copy.extent = make_cudaExtent(3, 4, 2);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms back{};
    std::vector<float> slice(12, -1);
    back.srcArray = volume;
    back.srcPos = make_cudaPos(0, 0, 1);
    back.dstPtr = make_cudaPitchedPtr(slice.data(), 12, 3, 4);
    back.extent = make_cudaExtent(3, 4, 1);
    back.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&back));
    EXPECT(slice[0] == 12 && slice[11] == 23);
    back.srcPos.z = 2;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&back));
    OK(cudaFreeArray(volume));
}

void check_pools() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    cudaMemPool_t standard, current, own;
    OK(cudaDeviceGetDefaultMemPool(&standard, 0));
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(standard == current);
    std::uint64_t threshold = UINT64_MAX, used = 1;
    OK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    threshold = 0;
    OK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT(threshold == UINT64_MAX);
    int* x = nullptr;
    OK(cudaMallocAsync(&x, 4096, stream));
    OK(cudaMemsetAsync(x, 0, 4096, stream));
    add_one<<<4, 256, 0, stream>>>(x, 1024);
    OK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 4096);
    OK(cudaStreamSynchronize(stream));  // a thread's own default stream waits for no other
    EXPECT(download(x, 1024)[1023] == 1);
    OK(cudaFreeAsync(x, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 0);
    OK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &used));
    EXPECT(used == 4096);
    OK(cudaMemPoolTrimTo(standard, 0));

    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = device0;
    OK(cudaMemPoolCreate(&own, &properties));
    OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&x), 512, own, stream));
    OK(cudaFreeAsync(x, stream));
    OK(cudaDeviceSetMemPool(0, own));
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == own);
    // A pool that is gone is not the current one any more.
    OK(cudaMemPoolDestroy(own));
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == standard);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(own));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(standard));
    OK(cudaMallocAsync(&x, 256, stream));
    OK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 256);
    OK(cudaFreeAsync(x, stream));
    OK(cudaStreamDestroy(stream));
}

__global__ void allocate_half(std::size_t heap, int* succeeded) {
    void* memory = malloc(heap / 2);
    *succeeded = memory != nullptr;
    free(memory);
}

// The sizes are those that an H100 gave.
void check_limits() {
    const auto limit = [](cudaLimit which) {
        std::size_t bytes = 0;
        OK(cudaDeviceGetLimit(&bytes, which));
        return bytes;
    };
    EXPECT(limit(cudaLimitStackSize) == 1024);
    EXPECT(limit(cudaLimitMallocHeapSize) == 8u << 20);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
    EXPECT(limit(cudaLimitStackSize) == 1008);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
    EXPECT(limit(cudaLimitStackSize) == 1008);
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 100));
    EXPECT(limit(cudaLimitPrintfFifoSize) == 524288);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1000));
    EXPECT(limit(cudaLimitMallocHeapSize) == 4u << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    int* succeeded = nullptr;
    OK(cudaMalloc(&succeeded, sizeof(int)));
    allocate_half<<<1, 1>>>(64 << 20, succeeded);
    EXPECT(download(succeeded, 1)[0] == 1);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20));
    EXPECT_ERROR(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4));
}

int main(int argc, char** argv) {
    return run_check(argc, argv, {
        {"managed", check_managed}, {"managed structures", check_managed_structures},
        {"managed variables", check_managed_variables}, {"advice", check_advice}, {"mapped", check_mapped},
        {"registered", check_registered}, {"volumes", check_volumes}, {"arrays", check_arrays},
        {"pools", check_pools}, {"limits", check_limits},
    });
}
