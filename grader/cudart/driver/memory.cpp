// Memory of the device, and of the host as the device sees it.
#include "cudart/driver/driver.hpp"

using namespace warpgrade::cudart;

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* pointer, std::size_t bytes) {
    const CallSite site;
    return in_context([&]() -> cudaError_t {
        void* address = nullptr;
        if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
        const cudaError_t status = cudaMalloc(&address, bytes);
        if (status == cudaSuccess) *pointer = reinterpret_cast<CUdeviceptr>(address);
        return status;
    });
}

CUresult CUDAAPI cuMemAllocPitch(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                                 unsigned int element_bytes) {
    const CallSite site;
    return in_context([&]() -> cudaError_t {
        void* address = nullptr;
        if (pointer == nullptr || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
            return cudaErrorInvalidValue;
        const cudaError_t status = cudaMallocPitch(&address, pitch, width, height);
        if (status == cudaSuccess) *pointer = reinterpret_cast<CUdeviceptr>(address);
        return status;
    });
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned int flags) {
    const CallSite site;
    return in_context([&]() -> cudaError_t {
        void* address = nullptr;
        if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
        const cudaError_t status = cudaMallocManaged(&address, bytes, flags);
        if (status == cudaSuccess) *pointer = reinterpret_cast<CUdeviceptr>(address);
        return status;
    });
}

CUresult CUDAAPI cuMemFree(CUdeviceptr pointer) {
    const CallSite site;
    return in_context([&] { return cudaFree(pointer_to(pointer)); });
}

CUresult CUDAAPI cuMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    return in_context([&] { return cudaMemGetInfo(free_bytes, total_bytes); });
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
    return in_context([&] {
        return device_api([&](Connection& connection) -> cudaError_t {
            std::vector<std::byte> reply;
            std::uint64_t address = 0, size = 0;
            const cudaError_t status =
                connection.call(Op::find_allocation, Writer().put(std::uint64_t{pointer}), &reply);
            if (status != cudaSuccess) return status;
            const cudaError_t taken = connection.take(reply, [&](Reader& reader) {
                address = reader.get<std::uint64_t>();
                size = reader.get<std::uint64_t>();
            });
            if (taken != cudaSuccess) return taken;
            if (size == 0) return cudaErrorSymbolNotFound;
            if (base != nullptr) *base = address;
            if (bytes != nullptr) *bytes = size;
            return cudaSuccess;
        });
    });
}

CUresult CUDAAPI cuMemAllocHost(void** pointer, std::size_t bytes) {
    const CallSite site;
    return in_context([&] { return cudaMallocHost(pointer, bytes); });
}

CUresult CUDAAPI cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    const CallSite site;
    return in_context([&] { return cudaHostAlloc(pointer, bytes, flags); });
}

CUresult CUDAAPI cuMemFreeHost(void* pointer) {
    const CallSite site;
    return in_context([&] { return cudaFreeHost(pointer); });
}

CUresult CUDAAPI cuMemHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
    const CallSite site;
    return in_context([&] { return cudaHostRegister(pointer, bytes, flags); });
}

CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
    const CallSite site;
    return in_context([&] { return cudaHostUnregister(pointer); });
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr* result, void* pointer, unsigned int flags) {
    const CallSite site;
    return in_context([&]() -> cudaError_t {
        void* address = nullptr;
        if (result == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaHostGetDevicePointer(&address, pointer, flags);
        if (status == cudaSuccess) *result = reinterpret_cast<CUdeviceptr>(address);
        return status;
    });
}

CUresult CUDAAPI cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    return in_context([&]() -> cudaError_t {
        cudaPointerAttributes is{};
        if (data == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t status = cudaPointerGetAttributes(&is, pointer_to(pointer)); status != cudaSuccess)
            return status;
        if (is.type == cudaMemoryTypeUnregistered) return cudaErrorInvalidValue;
        switch (attribute) {
            case CU_POINTER_ATTRIBUTE_CONTEXT:
                return *static_cast<CUcontext*>(data) = current_context(), cudaSuccess;
            case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
                *static_cast<CUmemorytype*>(data) =
                    is.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
                return cudaSuccess;
            case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
                return *static_cast<void**>(data) = is.devicePointer, cudaSuccess;
            case CU_POINTER_ATTRIBUTE_HOST_POINTER:
                if (is.hostPointer == nullptr) return cudaErrorInvalidValue;
                return *static_cast<void**>(data) = is.hostPointer, cudaSuccess;
            case CU_POINTER_ATTRIBUTE_IS_MANAGED:
                return *static_cast<bool*>(data) = is.type == cudaMemoryTypeManaged, cudaSuccess;
            case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
                return *static_cast<int*>(data) = is.device, cudaSuccess;
            default:
                return not_supported("this attribute of cuPointerGetAttribute");
        }
    });
}
