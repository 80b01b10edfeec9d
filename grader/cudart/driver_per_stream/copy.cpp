// Copies and fills of the driver API. Compiled once for each meaning of stream 0.
#include "cudart/driver/driver.hpp"
#include "cudart/stream/in_stream.hpp"
#include "cudart/stream/transfer.hpp"

using namespace warpgrade::cudart;

namespace {

CUresult fill_rows(CUdeviceptr pointer, std::size_t pitch, unsigned value, unsigned element_bytes, std::size_t width,
                   std::size_t height, CUstream stream) {
    return in_context([&] {
        return in_stream(stream, [&](std::uint32_t id) {
            cudaMemsetParams what{};
            what.dst = pointer_to(pointer), what.pitch = pitch;
            what.value = value, what.elementSize = element_bytes;
            what.width = width, what.height = height;
            if (pointer % element_bytes != 0 || (height > 1 && pitch % element_bytes != 0))
                return cudaErrorInvalidValue;
            return fill_elements(what, id);
        });
    });
}

// Null for an array.
void* side_of(CUmemorytype type, const void* host, CUdeviceptr device) {
    if (type == CU_MEMORYTYPE_ARRAY) return nullptr;
    return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer_to(device);
}

CUresult copy_rows(const CUDA_MEMCPY2D* what, CUstream stream, bool asynchronous) {
    return in_context([&]() -> cudaError_t {
        if (what == nullptr) return cudaErrorInvalidValue;
        if (what->srcMemoryType == CU_MEMORYTYPE_ARRAY || what->dstMemoryType == CU_MEMORYTYPE_ARRAY)
            return not_supported("arrays of the driver API");
        auto* to = static_cast<std::byte*>(side_of(what->dstMemoryType, what->dstHost, what->dstDevice));
        const auto* from = static_cast<std::byte*>(side_of(what->srcMemoryType, what->srcHost, what->srcDevice));
        if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
        const std::size_t to_pitch = what->dstPitch != 0 ? what->dstPitch : what->WidthInBytes;
        const std::size_t from_pitch = what->srcPitch != 0 ? what->srcPitch : what->WidthInBytes;
        to += what->dstY * to_pitch + what->dstXInBytes;
        from += what->srcY * from_pitch + what->srcXInBytes;
        if (asynchronous)
            return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, what->WidthInBytes, what->Height,
                                     cudaMemcpyDefault, stream);
        return cudaMemcpy2D(to, to_pitch, from, from_pitch, what->WidthInBytes, what->Height, cudaMemcpyDefault);
    });
}

}  // namespace

CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    const CallSite site;
    return in_context([&] { return cudaMemcpy(pointer_to(to), pointer_to(from), bytes, cudaMemcpyDefault); });
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
    const CallSite site;
    return in_context([&] { return cudaMemcpy(pointer_to(to), from, bytes, cudaMemcpyHostToDevice); });
}

CUresult CUDAAPI cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
    const CallSite site;
    return in_context([&] { return cudaMemcpy(to, pointer_to(from), bytes, cudaMemcpyDeviceToHost); });
}

CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    const CallSite site;
    return in_context([&] { return cudaMemcpy(pointer_to(to), pointer_to(from), bytes, cudaMemcpyDeviceToDevice); });
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    const CallSite site;
    return in_context(
        [&] { return cudaMemcpyAsync(pointer_to(to), pointer_to(from), bytes, cudaMemcpyDefault, stream); });
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
    const CallSite site;
    return in_context([&] { return cudaMemcpyAsync(pointer_to(to), from, bytes, cudaMemcpyHostToDevice, stream); });
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    const CallSite site;
    return in_context([&] { return cudaMemcpyAsync(to, pointer_to(from), bytes, cudaMemcpyDeviceToHost, stream); });
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    const CallSite site;
    return in_context(
        [&] { return cudaMemcpyAsync(pointer_to(to), pointer_to(from), bytes, cudaMemcpyDeviceToDevice, stream); });
}

CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D* what) {
    const CallSite site;
    return copy_rows(what, nullptr, false);
}

CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* what) {
    const CallSite site;
    return copy_rows(what, nullptr, false);
}

CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D* what, CUstream stream) {
    const CallSite site;
    return copy_rows(what, stream, true);
}

#define WG_FILL(bits, type)                                                                                          \
    CUresult CUDAAPI cuMemsetD##bits(CUdeviceptr pointer, type value, std::size_t count) {                           \
        const CallSite site;                                                                                         \
        return fill_rows(pointer, 0, value, bits / 8, count, 1, nullptr);                                            \
    }                                                                                                                \
    CUresult CUDAAPI cuMemsetD##bits##Async(CUdeviceptr pointer, type value, std::size_t count, CUstream stream) {   \
        const CallSite site;                                                                                         \
        return fill_rows(pointer, 0, value, bits / 8, count, 1, stream);                                             \
    }                                                                                                                \
    CUresult CUDAAPI cuMemsetD2D##bits(CUdeviceptr pointer, std::size_t pitch, type value, std::size_t width,        \
                                       std::size_t height) {                                                         \
        const CallSite site;                                                                                         \
        return fill_rows(pointer, pitch, value, bits / 8, width, height, nullptr);                                   \
    }                                                                                                                \
    CUresult CUDAAPI cuMemsetD2D##bits##Async(CUdeviceptr pointer, std::size_t pitch, type value, std::size_t width, \
                                              std::size_t height, CUstream stream) {                                 \
        const CallSite site;                                                                                         \
        return fill_rows(pointer, pitch, value, bits / 8, width, height, stream);                                    \
    }
WG_FILL(8, unsigned char)
WG_FILL(16, unsigned short)
WG_FILL(32, unsigned int)
#undef WG_FILL
