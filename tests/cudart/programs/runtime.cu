// An ordinary CUDA program, one check an argument: what a course's code expects of the runtime. It links
// libwarpgrade_cudart.a; test-cudart runs it on the fake device and on the virtual GPU. Linked with NVIDIA's runtime,
// all checks but `handles` and `nothing` hold on a real H100 too.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "checks.cuh"

__constant__ float factor;

__global__ void vecadd(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void scale(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__global__ void reverse(int* x, int n) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = shared[n - 1 - threadIdx.x];
}

__global__ void store_to(int* p) { *p = 1; }

__global__ void __launch_bounds__(100) bounded(int* p) { *p = static_cast<int>(blockDim.x); }

__global__ void say(int value) { printf("said %d\n", value); }

void check_vecadd() {
    const int n = 700'001;  // more than one piece of a transfer
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
    float *da = upload(a), *db = upload(b), *dc = nullptr;
    OK(cudaMalloc(&dc, n * sizeof(float)));
    vecadd<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    const auto c = download(dc, n);
    for (int i = 0; i < n; ++i) EXPECT(c[i] == 3.0f * i);
    OK(cudaFree(da)); OK(cudaFree(db)); OK(cudaFree(dc));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(dc));
}

void check_symbol() {
    const float two = 2;
    float back = 0, *address = nullptr;
    std::size_t bytes = 0;
    OK(cudaMemcpyToSymbol(factor, &two, sizeof two));
    OK(cudaMemcpyFromSymbol(&back, factor, sizeof back));
    EXPECT(back == 2);
    OK(cudaGetSymbolSize(&bytes, factor));
    EXPECT(bytes == sizeof(float));
    OK(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), factor));
    OK(cudaMemcpy(&back, address, sizeof back, cudaMemcpyDefault));
    float* x = upload(std::vector<float>{1, 2, 3});
    scale<<<1, 32>>>(x, 3);
    EXPECT((download(x, 3) == std::vector<float>{2, 4, 6}));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(factor, &two, 8));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(factor, &two, 4, 4));
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(factor, &two, 4, 0, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(back, &two, 4));
}

void check_bounds() {
    int* x = upload(std::vector<int>{0});
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.maxThreadsPerBlock == 100 && attributes.constSizeBytes == sizeof factor);
    bounded<<<1, 100>>>(x);
    OK(cudaGetLastError());
    bounded<<<1, 101>>>(x);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    EXPECT(download(x, 1)[0] == 100);
}

void check_reverse() {
    int* x = upload(std::vector<int>{1, 2, 3, 4, 5});
    reverse<<<1, 5, 5 * sizeof(int)>>>(x, 5);
    EXPECT((download(x, 5) == std::vector<int>{5, 4, 3, 2, 1}));
    reverse<<<1, 5, 60'000>>>(x, 5);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    cudaFuncAttributes attributes;
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60'000));
    OK(cudaFuncGetAttributes(&attributes, reverse));
    EXPECT(attributes.maxDynamicSharedSizeBytes == 60'000);
    EXPECT(attributes.maxThreadsPerBlock == 1024);
    reverse<<<1, 5, 60'000>>>(x, 5);
    OK(cudaGetLastError());
    EXPECT((download(x, 5) == std::vector<int>{1, 2, 3, 4, 5}));
}

void check_copies() {
    std::vector<int> a{1, 2, 3, 4}, b(4);
    int* device = upload(a);
    OK(cudaMemcpy(b.data(), a.data(), 16, cudaMemcpyHostToHost));
    EXPECT(a == b);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(b.data(), a.data(), 16, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(b.data(), a.data(), 16, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(device, a.data(), 16, cudaMemcpyDeviceToDevice));
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpy(device, a.data(), 16, static_cast<cudaMemcpyKind>(7)));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(device, a.data(), 20, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, a.data(), 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(nullptr, a.data(), 0, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());
    int* other = upload(std::vector<int>(4));
    OK(cudaMemcpy(other, device, 16, cudaMemcpyDefault));
    EXPECT(download(other, 4) == a);
    OK(cudaMemset(other, 0xFF, 8));
    EXPECT((download(other, 4) == std::vector<int>{-1, -1, 3, 4}));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(other, 0, 17));

    std::vector<char> rows(3 * 5, 'x'), back(3 * 7, '.');
    char* pitched = nullptr;
    std::size_t pitch = 0;
    OK(cudaMallocPitch(&pitched, &pitch, 5, 3));
    EXPECT(pitch == 512);
    OK(cudaMemset2D(pitched, pitch, 'm', 5, 3));
    OK(cudaMemcpy2D(pitched, pitch, rows.data(), 5, 4, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back.data(), 7, pitched, pitch, 5, 3, cudaMemcpyDeviceToHost));
    EXPECT(std::string(back.begin(), back.end()) == "xxxxm..xxxxm..xxxxm..");
    EXPECT_ERROR(cudaErrorInvalidPitchValue,
                 cudaMemcpy2D(pitched, pitch, rows.data(), 5, 6, 2, cudaMemcpyHostToDevice));

    int* pinned = nullptr;
    cudaPointerAttributes attributes;
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost));
    OK(cudaDeviceSynchronize());
    EXPECT(pinned[3] == 4);
    OK(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&attributes, device + 1));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device + 1);
    OK(cudaPointerGetAttributes(&attributes, &attributes));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    OK(cudaFreeHost(pinned));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeHost(pinned));
}

void check_errors() {
    int* x = upload(std::vector<int>{0});
    OK(cudaGetLastError());
    store_to<<<1, 2048>>>(x);
    const cudaError_t wrong = cudaPeekAtLastError();  // depends on the device's age
    EXPECT(wrong == cudaErrorInvalidConfiguration || wrong == cudaErrorInvalidValue);
    EXPECT_ERROR(wrong, cudaGetLastError());
    OK(cudaGetLastError());
    store_to<<<0, 32>>>(x);
    EXPECT(cudaGetLastError() != cudaSuccess);
    OK(cudaDeviceSynchronize());
    void* pointer = &x;
    EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&pointer, std::size_t{1} << 50));
    EXPECT(pointer == nullptr);
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(5));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaPeekAtLastError());
    std::thread([] { OK(cudaGetLastError()); }).join();  // each thread has its own
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetLastError());
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaLaunchKernel(reinterpret_cast<void*>(check_errors), dim3(1), dim3(1), nullptr, 0, nullptr));
    EXPECT(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) == "an illegal memory access was encountered");
    EXPECT(std::string(cudaGetErrorName(cudaErrorNotSupported)) == "cudaErrorNotSupported");
    EXPECT(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))) == "unrecognized error code");
}

void check_fault() {
    int *x = upload(std::vector<int>{0}), count = 0;
    store_to<<<1, 1>>>(reinterpret_cast<int*>(16));
    OK(cudaGetLastError());  // the host cannot know yet
    store_to<<<1, 1>>>(x);
    OK(cudaGetLastError());
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaGetLastError());
    OK(cudaGetLastError());
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaMalloc(&x, 4));
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaMemcpy(&count, x, 4, cudaMemcpyDeviceToHost));
    store_to<<<1, 1>>>(x);
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaGetLastError());
    OK(cudaGetDeviceCount(&count));
    EXPECT(count == 1);
    OK(cudaDeviceReset());
    EXPECT_ERROR(cudaErrorDevicesUnavailable, cudaMalloc(&x, 4));
}

void check_streams() {
    cudaStream_t first, second;
    cudaEvent_t start, middle, end, untimed;
    float milliseconds = -1;
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -99));
    int priority = 0;
    OK(cudaStreamGetPriority(second, &priority));
    EXPECT(priority == -5);
    OK(cudaEventCreate(&start)); OK(cudaEventCreate(&middle)); OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaGetLastError());
    const int n = 4096;
    float* x = upload(std::vector<float>(n, 1));
    OK(cudaEventRecord(start, first));
    vecadd<<<16, 256, 0, first>>>(x, x, x, n);
    OK(cudaEventRecord(middle, first));
    OK(cudaStreamWaitEvent(second, middle));
    vecadd<<<16, 256, 0, second>>>(x, x, x, n);
    OK(cudaEventRecord(end, second));
    EXPECT_ERROR(cudaErrorNotReady, cudaStreamQuery(second));
    OK(cudaGetLastError());
    OK(cudaEventSynchronize(end));
    OK(cudaEventQuery(end));
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds > 0 && milliseconds < 10);
    float first_half = 0, second_half = 0;
    OK(cudaEventElapsedTime(&first_half, start, middle)); OK(cudaEventElapsedTime(&second_half, middle, end));
    EXPECT(first_half > 0 && second_half > 0 && first_half + second_half < milliseconds * 1.001f);
    OK(cudaEventRecord(untimed)); OK(cudaEventSynchronize(untimed));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
    EXPECT(download(x, n)[n - 1] == 4);
    bool called = false;
    OK(cudaLaunchHostFunc(first, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
    OK(cudaStreamSynchronize(first));
    EXPECT(called);
    OK(cudaStreamDestroy(first)); OK(cudaStreamDestroy(second));
    OK(cudaEventDestroy(start)); OK(cudaEventDestroy(end));
}

// Handles that are none: a real runtime may crash on them, ours says so.
void check_handles() {
    cudaStream_t stream;
    cudaEvent_t event;
    OK(cudaStreamCreate(&stream)); OK(cudaStreamDestroy(stream));
    OK(cudaEventCreate(&event)); OK(cudaEventDestroy(event));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(0x1000)));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(event));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventSynchronize(nullptr));
}

// The launches that are no <<<...>>>.
void check_launches() {
    int n = 64;
    float* x = upload(std::vector<float>(n, 1));
    void* arguments[] = {&x, &x, &x, &n};
    const void* kernel = reinterpret_cast<const void*>(vecadd);
    OK(cudaLaunchKernel(kernel, dim3(2), dim3(32), arguments, 0, nullptr));
    EXPECT(download(x, n)[63] == 2);
    OK(cudaLaunchCooperativeKernel(kernel, dim3(2), dim3(32), arguments, 0, nullptr));
    EXPECT(download(x, n)[63] == 4);
    EXPECT_ERROR(cudaErrorCooperativeLaunchTooLarge,
                 cudaLaunchCooperativeKernel(kernel, dim3(1000000), dim3(1024), arguments, 0, nullptr));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 2;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, vecadd, static_cast<const float*>(x), static_cast<const float*>(x), x, n));
    EXPECT(download(x, n)[63] == 8);
}

void check_queries() {
    int count = 0, device = -1, value = 0, blocks = 0, block = 0;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDevice(&device));
    EXPECT(count == 1 && device == 0);
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.name[0] != 0);
    EXPECT(properties.sharedMemPerBlock == 49152 && properties.multiProcessorCount > 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == properties.multiProcessorCount);
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, vecadd, 256, 0));
    EXPECT(blocks == properties.maxThreadsPerMultiProcessor / 256);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, vecadd, 0, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&blocks, &block, vecadd));
    EXPECT(block >= 32 && block <= 1024 && blocks > 0);
    std::size_t free_bytes = 0, total_bytes = 0, limit = 0;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    EXPECT(free_bytes <= total_bytes && total_bytes > 0);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit == 4096);
    OK(cudaRuntimeGetVersion(&value));
    EXPECT(value >= 13000);
}

// A machine with one device.
void check_devices() {
    int value = -1;
    char bus[32] = "";
    OK(cudaDeviceCanAccessPeer(&value, 0, 0));
    EXPECT(value == 0);
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&value, 0, 1));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_ERROR(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(0, 1));
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&value, bus));
    EXPECT(value == 0);
    cudaDeviceProp wanted{};
    OK(cudaChooseDevice(&value, &wanted));
    EXPECT(value == 0);
    int* x = upload(std::vector<int>{5});
    int* y = upload(std::vector<int>{6});
    OK(cudaMemcpyPeer(y, 0, x, 0, sizeof(int)));
    EXPECT(download(y, 1)[0] == 5);
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemcpyPeer(y, 1, x, 0, sizeof(int)));
    unsigned flags = 0;
    OK(cudaGetDeviceFlags(&flags));
    void* function = &function;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, cudaEnableDefault, &found));
    EXPECT(function == nullptr && found == cudaDriverEntryPointSymbolNotFound);
}

// The structure and the single attributes say the same.
void check_attributes() {
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    const auto get = [](cudaDeviceAttr which) {
        int value = -1;
        OK(cudaDeviceGetAttribute(&value, which, 0));
        return value;
    };
    EXPECT(get(cudaDevAttrMaxThreadsPerMultiProcessor) == p.maxThreadsPerMultiProcessor);
    EXPECT(get(cudaDevAttrManagedMemory) == p.managedMemory && p.managedMemory == 1);
    EXPECT(get(cudaDevAttrConcurrentManagedAccess) == p.concurrentManagedAccess);
    EXPECT(get(cudaDevAttrCanMapHostMemory) == p.canMapHostMemory && p.canMapHostMemory == 1);
    EXPECT(get(cudaDevAttrMemoryPoolsSupported) == p.memoryPoolsSupported && p.memoryPoolsSupported == 1);
    EXPECT(get(cudaDevAttrMaxTexture2DWidth) == p.maxTexture2D[0] && p.maxTexture2D[0] >= 65536);
    EXPECT(get(cudaDevAttrMaxSurface3DDepth) == p.maxSurface3D[2]);
    EXPECT(get(cudaDevAttrMaxTexture1DLayeredLayers) == p.maxTexture1DLayered[1]);
    EXPECT(get(cudaDevAttrComputeMode) == cudaComputeModeDefault);
    EXPECT(get(cudaDevAttrL2CacheSize) == p.l2CacheSize);
    EXPECT(get(cudaDevAttrMaxPersistingL2CacheSize) == p.persistingL2CacheMaxSize);

    std::size_t shared = 0, offset = 1, bytes = 0;
    int blocks = 0;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, vecadd, 2, 256));
    EXPECT(shared > 0 && shared <= p.sharedMemPerMultiprocessor / 2);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, vecadd, 256, shared));
    EXPECT(blocks >= 2);
    OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(vecadd), 3, &offset, &bytes));
    EXPECT(offset == 24 && bytes == 4);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, vecadd));
    EXPECT(attributes.numRegs > 0 && attributes.sharedSizeBytes == 0 && attributes.binaryVersion >= 70);
}

void check_printf() {
    say<<<1, 1>>>(7);
    OK(cudaDeviceSynchronize());
}

// Launches from several threads, each with streams of its own.
void check_threads() {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            cudaStream_t stream;
            OK(cudaStreamCreate(&stream));
            for (int round = 0; round < 20; ++round) {
                const int n = 1000 + t;
                float* x = upload(std::vector<float>(n, static_cast<float>(t)));
                vecadd<<<(n + 255) / 256, 256, 0, stream>>>(x, x, x, n);
                OK(cudaStreamSynchronize(stream));
                EXPECT(download(x, n)[n - 1] == 2.0f * t);
                OK(cudaFree(x));
            }
        });
    for (std::thread& thread : threads) thread.join();
}

void check_reset() {
    float two = 2;
    OK(cudaMemcpyToSymbol(factor, &two, sizeof two));
    OK(cudaDeviceReset());
    OK(cudaMemcpyFromSymbol(&two, factor, sizeof two));
    EXPECT(two == 0);  // loaded anew
    float* x = upload(std::vector<float>{1});
    vecadd<<<1, 1>>>(x, x, x, 1);
    EXPECT(download(x, 1)[0] == 2);
}

void check_nothing() {
    int count = -1;
    void* pointer = nullptr;
    EXPECT_ERROR(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    EXPECT(count == 0);
    EXPECT_ERROR(cudaErrorNoDevice, cudaMalloc(&pointer, 4));
    store_to<<<1, 1>>>(nullptr);
    EXPECT_ERROR(cudaErrorNoDevice, cudaGetLastError());
}

int main(int argc, char** argv) {
    const std::map<std::string, void (*)()> checks = {
        {"vecadd", check_vecadd},   {"symbol", check_symbol},   {"reverse", check_reverse}, {"copies", check_copies},
        {"errors", check_errors},   {"fault", check_fault},     {"streams", check_streams}, {"queries", check_queries},
        {"printf", check_printf},   {"threads", check_threads}, {"reset", check_reset},     {"nothing", check_nothing},
        {"handles", check_handles}, {"launches", check_launches}, {"bounds", check_bounds},
        {"devices", check_devices}, {"attributes", check_attributes},
    };
    return run_check(argc, argv, checks);
}
