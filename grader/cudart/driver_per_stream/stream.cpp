// Work in streams of the driver API. Compiled once for each meaning of stream 0.
#include "cudart/driver/driver.hpp"

using namespace warpgrade::cudart;

CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
    const CallSite site;
    return in_context([&] { return cudaStreamSynchronize(stream); });
}

CUresult CUDAAPI cuStreamQuery(CUstream stream) {
    return in_context([&] { return cudaStreamQuery(stream); });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    return in_context([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

CUresult CUDAAPI cuStreamGetFlags(CUstream stream, unsigned int* flags) {
    return in_context([&] { return cudaStreamGetFlags(stream, flags); });
}

CUresult CUDAAPI cuStreamGetPriority(CUstream stream, int* priority) {
    return in_context([&] { return cudaStreamGetPriority(stream, priority); });
}

CUresult CUDAAPI cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned int flags) {
    return in_context(
        [&] { return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags); });
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
    return in_context([&] { return cudaEventRecord(event, stream); });
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
    return in_context([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    return in_context([&] { return cudaLaunchHostFunc(stream, function, data); });
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
    const CallSite site;
    return in_context([&]() -> cudaError_t {
        void* address = nullptr;
        if (pointer == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaMallocAsync(&address, bytes, stream);
        if (status == cudaSuccess) *pointer = reinterpret_cast<CUdeviceptr>(address);
        return status;
    });
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    const CallSite site;
    return in_context([&] { return cudaFreeAsync(pointer_to(pointer), stream); });
}
