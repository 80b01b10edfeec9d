// A program of the driver API, one check an argument; see runtime.cu.
#include <cuda.h>

#include <cstring>
#include <numeric>

#include "checks.cuh"

#define RESULT(expected, ...)                                                                      \
    do {                                                                                           \
        const CUresult got = (__VA_ARGS__);                                                        \
        const char* name = nullptr;                                                                \
        cuGetErrorName(got, &name);                                                                \
        if (got != (expected)) {                                                                   \
            std::printf("line %d: %s gave %s\n", __LINE__, #__VA_ARGS__, name ? name : "nothing"); \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
#define DRIVER(...) RESULT(CUDA_SUCCESS, __VA_ARGS__)

// y[i] = scale * y[i] + (narrow << 1) in a block of n threads.
const char* const ptx = R"(
.version 8.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 scale = 3;
.visible .entry combine(.param .u64 y, .param .u8 narrow, .param .u32 n) {
    .reg .u64 %a<3>;
    .reg .u32 %r<8>;
    .reg .pred %p;
    ld.param.u64 %a0, [y];
    ld.param.u8 %r0, [narrow];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    mul.wide.u32 %a1, %r2, 4;
    cvta.to.global.u64 %a0, %a0;
    add.u64 %a0, %a0, %a1;
    ld.global.u32 %r3, [%a0];
    ld.global.u32 %r4, [scale];
    shl.b32 %r5, %r0, 1;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    st.global.u32 [%a0], %r3;
    ret;
}
)";

__global__ void add_one(int* x) { x[threadIdx.x] += 1; }

CUcontext start() {
    CUcontext context = nullptr;
    DRIVER(cuInit(0));
    DRIVER(cuCtxCreate(&context, nullptr, 0, 0));
    return context;
}

CUdeviceptr numbers(std::size_t count) {
    CUdeviceptr memory = 0;
    std::vector<int> host(count);
    std::iota(host.begin(), host.end(), 0);
    DRIVER(cuMemAlloc(&memory, count * sizeof(int)));
    DRIVER(cuMemcpyHtoD(memory, host.data(), count * sizeof(int)));
    return memory;
}

std::vector<int> back(CUdeviceptr memory, std::size_t count) {
    std::vector<int> host(count);
    DRIVER(cuMemcpyDtoH(host.data(), memory, count * sizeof(int)));
    return host;
}

void check_module() {
    const CUcontext context = start();
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    RESULT(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
    RESULT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, "x"));
    RESULT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ""));
    RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, "\177ELF"));
    RESULT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nothing/here"));
    char log[400] = "old";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    const std::string wrong = std::string(ptx).replace(std::strstr(ptx, ".entry") - ptx, 6, ".entri");
    RESULT(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values));
    EXPECT(std::strstr(log, ".entri") != nullptr);
    values[1] = reinterpret_cast<void*>(sizeof log);
    DRIVER(cuModuleLoadDataEx(&module, ptx, 2, options, values));
    EXPECT(log[0] == '\0' && values[1] == nullptr);
    RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "nothing"));
    DRIVER(cuModuleGetFunction(&function, module, "combine"));

    CUdeviceptr scale = 0, y = numbers(32);
    std::size_t bytes = 0;
    RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&scale, &bytes, module, "nothing"));
    DRIVER(cuModuleGetGlobal(&scale, &bytes, module, "scale"));
    EXPECT(bytes == 4 && back(scale, 1)[0] == 3);
    DRIVER(cuMemsetD32(scale, 10, 1));

    unsigned char narrow = 200;
    int n = 31;
    void* arguments[] = {&y, &narrow, &n};
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT(back(y, 32)[30] == 700 && back(y, 32)[31] == 31);

    struct {
        CUdeviceptr y;
        unsigned char narrow;
        int n;
    } all{y, 1, 2};
    std::size_t size = sizeof all;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    EXPECT(back(y, 32)[1] == 4102 && back(y, 32)[2] == 420);
    size = 12;  // without `n`
    RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, extra));
    RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr));

    DRIVER(cuModuleUnload(module));
    RESULT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    RESULT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    for (int i = 0; i < 1100; ++i) {  // more than there may be at once
        DRIVER(cuModuleLoadData(&module, ptx));
        DRIVER(cuModuleUnload(module));
    }
    DRIVER(cuMemFree(y));
    DRIVER(cuCtxDestroy(context));
}

void check_functions() {
    start();
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    int value = 0, grid = 0;
    DRIVER(cuModuleLoadData(&module, ptx));
    DRIVER(cuModuleGetFunction(&function, module, "combine"));
    DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    EXPECT(value == 1024);
    DRIVER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100'000));
    DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    EXPECT(value == 100'000);
    DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 1024, 100'000));
    EXPECT(value == 2);
    DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &value, function, nullptr, 100'000, 0));
    EXPECT(value == 1024 && grid % 2 == 0);
    const char* name = nullptr;
    DRIVER(cuFuncGetName(&name, function));
    EXPECT(std::strcmp(name, "combine") == 0);
}

void check_memory() {
    start();
    CUdeviceptr memory = 0, base = 0;
    std::size_t bytes = 0, pitch = 0;
    RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0));
    DRIVER(cuMemAlloc(&memory, 4096));
    DRIVER(cuMemGetAddressRange(&base, &bytes, memory + 100));
    EXPECT(base == memory && bytes == 4096);
    DRIVER(cuMemsetD8(memory, 1, 4096));
    DRIVER(cuMemsetD16(memory, 0x0203, 2));
    DRIVER(cuMemsetD32(memory + 8, 0xFFFFFFFE, 1));
    const auto words = back(memory, 4);
    EXPECT(words[0] == 0x02030203 && words[1] == 0x01010101 && words[2] == -2 && words[3] == 0x01010101);
    RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 1, 0, 1));
    DRIVER(cuMemcpyDtoD(memory + 64, memory, 16));
    EXPECT(back(memory + 64, 1)[0] == 0x02030203);
    DRIVER(cuMemFree(memory));

    DRIVER(cuMemAllocPitch(&memory, &pitch, 12, 3, 4));
    DRIVER(cuMemsetD2D32(memory, pitch, 7, 3, 3));
    std::vector<int> rows(6);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = memory, copy.srcPitch = pitch, copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = rows.data();
    copy.WidthInBytes = 12, copy.Height = 2;
    DRIVER(cuMemcpy2D(&copy));
    EXPECT(rows == std::vector<int>(6, 7));
    DRIVER(cuMemFree(memory));

    int* host = nullptr;
    bool managed = true;
    DRIVER(cuMemAllocHost(reinterpret_cast<void**>(&host), 4096));
    DRIVER(cuMemHostGetDevicePointer(&memory, host, 0));
    DRIVER(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
    EXPECT(!managed);
    DRIVER(cuMemFreeHost(host));
}

void check_streams() {
    start();
    CUstream stream = nullptr;
    CUevent first = nullptr, last = nullptr;
    float milliseconds = -1;
    std::vector<int> host(1024);
    const CUdeviceptr memory = numbers(1024);
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuEventCreate(&first, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate(&last, CU_EVENT_DEFAULT));
    DRIVER(cuEventRecord(first, stream));
    DRIVER(cuMemsetD32Async(memory, 0x12345678, 1024, stream));
    DRIVER(cuMemcpyDtoHAsync(host.data(), memory, 4096, stream));
    DRIVER(cuEventRecord(last, stream));
    DRIVER(cuEventSynchronize(last));
    DRIVER(cuEventElapsedTime(&milliseconds, first, last));
    EXPECT(milliseconds > 0 && host == std::vector<int>(1024, 0x12345678));
    DRIVER(cuStreamSynchronize(stream));
    DRIVER(cuStreamQuery(stream));
    bool called = false;
    DRIVER(cuLaunchHostFunc(stream, [](void* data) { *static_cast<bool*>(data) = true; }, &called));
    DRIVER(cuStreamSynchronize(stream));
    EXPECT(called);
    DRIVER(cuEventDestroy(first));
    DRIVER(cuEventDestroy(last));
    DRIVER(cuStreamDestroy(stream));
    RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
}

void check_contexts() {
    CUcontext context = nullptr, other = nullptr, now = nullptr;
    CUdeviceptr memory = 0;
    unsigned flags = 0;
    int active = -1;
    RESULT(CUDA_ERROR_NOT_INITIALIZED, cuCtxCreate(&context, nullptr, 0, 0));
    RESULT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    DRIVER(cuInit(0));
    RESULT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
    RESULT(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, nullptr, 0, 1));
    DRIVER(cuCtxGetCurrent(&now));
    EXPECT(now == nullptr);

    DRIVER(cuCtxCreate(&context, nullptr, 0, 0));
    DRIVER(cuCtxCreate(&other, nullptr, CU_CTX_SCHED_SPIN, 0));
    DRIVER(cuCtxGetCurrent(&now));
    DRIVER(cuCtxGetFlags(&flags));
    EXPECT(now == other && context != other && flags == CU_CTX_SCHED_SPIN);
    DRIVER(cuMemAlloc(&memory, 4));
    DRIVER(cuCtxDestroy(other));
    DRIVER(cuCtxGetCurrent(&now));
    EXPECT(now == context);
    DRIVER(cuMemsetD8(memory, 0, 4));  // there is one context in truth
    DRIVER(cuCtxSetCurrent(nullptr));
    RESULT(CUDA_ERROR_INVALID_CONTEXT, cuMemFree(memory));
    DRIVER(cuCtxPushCurrent(context));
    DRIVER(cuCtxDestroy(context));
    RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(context));
    RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(context));

    // With the last context went its memory.
    DRIVER(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(active == 0);
    DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    DRIVER(cuCtxSetCurrent(context));
    RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
    DRIVER(cuDevicePrimaryCtxRelease(0));
    RESULT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
}

// The runtime and the driver API name the same things.
void check_mixed() {
    OK(cudaSetDevice(0));
    CUcontext context = nullptr;
    DRIVER(cuCtxGetCurrent(&context));
    EXPECT(context != nullptr);
    int* x = upload(std::vector<int>(32, 4));
    cudaFunction_t function = nullptr;
    OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add_one)));
    void* arguments[] = {&x};
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
    DRIVER(cuStreamSynchronize(stream));
    EXPECT(back(reinterpret_cast<CUdeviceptr>(x), 32) == std::vector<int>(32, 5));

    // Errors of one are not those of the other.
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, x, 4, cudaMemcpyDeviceToHost));
    RESULT(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, nullptr, 0, 7));
    RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(reinterpret_cast<CUstream>(x)));
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);

    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &address, 13000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess && address == reinterpret_cast<void*>(&cuMemAlloc));
    OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &address, 13000, cudaEnableDefault, &found));
    EXPECT(address == reinterpret_cast<void*>(&cuLaunchKernel));
    OK(cudaGetDriverEntryPointByVersion("cuNothing", &address, 13000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSymbolNotFound && address == nullptr);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(x));
}

void check_device() {
    int count = 0, value = 0, major = 0;
    char name[16];
    std::size_t bytes = 0;
    cudaDeviceProp properties;
    RESULT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGetCount(&count));
    RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&value, count));
    DRIVER(cuDeviceGet(&value, 0));
    DRIVER(cuDeviceGetName(name, sizeof name, value));
    DRIVER(cuDeviceTotalMem(&bytes, value));
    DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, value));
    OK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(std::string(name) == std::string(properties.name).substr(0, 15));
    EXPECT(bytes == properties.totalGlobalMem && major == properties.major);
    DRIVER(cuDriverGetVersion(&value));
    EXPECT(value >= 13000);
}

int main(int argc, char** argv) {
    return run_check(argc, argv,
                     {{"module", check_module},
                      {"functions", check_functions},
                      {"memory", check_memory},
                      {"streams", check_streams},
                      {"contexts", check_contexts},
                      {"mixed", check_mixed},
                      {"device", check_device}});
}
