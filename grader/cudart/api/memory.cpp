// Device memory and device variables.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/array.hpp"
#include "cudart/state/host_memory.hpp"
#include "cudart/state/pools.hpp"
#include "cudart/state/registry.hpp"
#include "cudart/stream/transfer.hpp"

using namespace warpgrade::cudart;

namespace {

cudaError_t allocate(Connection& connection, void** pointer, std::size_t bytes, const char* origin) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    std::uint64_t address = 0;
    const cudaError_t status = connection.allocate(bytes, origin, address);
    if (status == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
    return status;
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

cudaError_t CUDARTAPI cudaMalloc(void** pointer, std::size_t bytes) {
    const CallSite site;
    return device_api([&](Connection& connection) { return allocate(connection, pointer, bytes, "cudaMalloc"); });
}

cudaError_t CUDARTAPI cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    const CallSite site;
    return device_api([&](Connection& connection) -> cudaError_t {
        if (pitch == nullptr || width > SIZE_MAX - pitch_alignment) return cudaErrorInvalidValue;
        const std::size_t row = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
        std::size_t bytes = 0;
        if (__builtin_mul_overflow(row, height, &bytes)) return cudaErrorMemoryAllocation;
        *pitch = row;
        return allocate(connection, pointer, bytes, "cudaMallocPitch");
    });
}

cudaError_t CUDARTAPI cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
    const CallSite site;
    if (result == nullptr) return remember(cudaErrorInvalidValue);
    std::size_t rows = 0, pitch = 0;
    void* pointer = nullptr;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return remember(cudaErrorMemoryAllocation);
    const cudaError_t status = cudaMallocPitch(&pointer, &pitch, extent.width, rows);
    if (status == cudaSuccess) *result = {pointer, pitch, extent.width, extent.height};
    return status;
}

// There is only one device.
cudaError_t CUDARTAPI cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                                     std::size_t count) {
    const CallSite site;
    if (destination_device != 0 || source_device != 0) return remember(cudaErrorInvalidDevice);
    return cudaMemcpy(destination, source, count, cudaMemcpyDeviceToDevice);
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                          int source_device, std::size_t count, cudaStream_t stream) {
    const CallSite site;
    if (destination_device != 0 || source_device != 0) return remember(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(destination, source, count, cudaMemcpyDeviceToDevice, stream);
}

// Programs use cudaFree(nullptr) to initialize the device.
cudaError_t CUDARTAPI cudaFree(void* pointer) {
    const CallSite site;
    return device_api([&](Connection& connection) {
        if (pointer == nullptr) return cudaSuccess;
        if (find_host_range(pointer) != nullptr) return free_host_range(pointer, HostRange::Kind::managed);
        const cudaError_t status = connection.free(address_of(pointer));
        if (status == cudaSuccess) record_free(pointer);
        return status;
    });
}

cudaError_t CUDARTAPI cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    return device_api([&](Connection& connection) -> cudaError_t {
        std::vector<std::byte> reply;
        if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t status = connection.call(Op::memory_info, Writer(), &reply); status != cudaSuccess)
            return status;
        return connection.take(reply, [&](Reader& reader) {
            *free_bytes = reader.get<std::uint64_t>();
            *total_bytes = reader.get<std::uint64_t>();
        });
    });
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return device_api([&](Connection&) -> cudaError_t {
        Variable* variable = nullptr;
        if (pointer == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t status = Registry::get().find_variable(symbol, variable); status != cudaSuccess)
            return status;
        *pointer = reinterpret_cast<void*>(variable->address);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    return device_api([&](Connection&) -> cudaError_t {
        Variable* variable = nullptr;
        if (bytes == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t status = Registry::get().find_variable(symbol, variable); status != cudaSuccess)
            return status;
        *bytes = variable->bytes;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return device_api([&](Connection& connection) -> cudaError_t {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        *attributes = {};
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = const_cast<void*>(pointer);
        if (find_host_range(pointer) != nullptr) {
            attributes->type = is_managed(pointer) ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
            attributes->device = 0;
            attributes->devicePointer = const_cast<void*>(pointer);
        } else if (connection.is_device_address(pointer)) {
            std::vector<std::byte> reply;
            const cudaError_t status = connection.call(Op::find_allocation, Writer().put(address_of(pointer)), &reply);
            if (status != cudaSuccess) return status;
            std::uint64_t bytes = 0;
            const cudaError_t taken = connection.take(reply, [&](Reader& reader) {
                reader.get<std::uint64_t>();
                bytes = reader.get<std::uint64_t>();
            });
            if (taken != cudaSuccess) return taken;
            if (bytes == 0) return cudaSuccess;  // a device address without an allocation counts as unregistered
            attributes->type = cudaMemoryTypeDevice;
            attributes->device = 0;
            attributes->devicePointer = const_cast<void*>(pointer);
            attributes->hostPointer = nullptr;
        }
        return cudaSuccess;
    });
}
