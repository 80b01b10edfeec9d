// Events and the making of streams. A CUevent is a cudaEvent_t, a CUstream a cudaStream_t.
#include "cudart/driver/driver.hpp"

using namespace warpgrade::cudart;

CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned int flags) {
    const CallSite site;
    return in_context([&] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
    const CallSite site;
    return in_context([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
    const CallSite site;
    return in_context([&] { return cudaStreamDestroy(stream); });
}

CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned int flags) {
    const CallSite site;
    return in_context([&] { return cudaEventCreateWithFlags(event, flags); });
}

CUresult CUDAAPI cuEventDestroy(CUevent event) {
    const CallSite site;
    return in_context([&] { return cudaEventDestroy(event); });
}

CUresult CUDAAPI cuEventSynchronize(CUevent event) {
    const CallSite site;
    return in_context([&] { return cudaEventSynchronize(event); });
}

CUresult CUDAAPI cuEventQuery(CUevent event) {
    return in_context([&] { return cudaEventQuery(event); });
}

CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return in_context([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
