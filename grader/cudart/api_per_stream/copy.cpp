// Copies and fills of the API. Compiled once for each meaning of stream 0.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/state/pools.hpp"
#include "cudart/state/registry.hpp"
#include "cudart/stream/capture.hpp"
#include "cudart/stream/in_stream.hpp"
#include "cudart/stream/transfer.hpp"

using namespace warpgrade::cudart;

namespace {

cudaError_t capture_allocation(CapturingStream& capture, std::size_t bytes, const char* function, void** pointer) {
    AllocationWork work;
    work.parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    work.parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
    work.parameters.bytesize = bytes;
    const cudaError_t status = reserve_for_graph(bytes, function, &work.parameters.dptr);
    if (status != cudaSuccess) return status;
    *pointer = work.parameters.dptr;
    return capture_work(capture, work);
}

cudaError_t capture_free(CapturingStream& capture, void* pointer) {
    Work work;
    const cudaError_t status = make_free_work(*capture.capture->graph, pointer, work);
    return status != cudaSuccess ? status : capture_work(capture, std::move(work));
}

cudaError_t allocate_in_stream(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                               const char* function) {
    return in_stream(stream, [&](std::uint32_t id) {
        CapturingStream* capture = find_capture(id);
        if (capture == nullptr) return allocate_from(pool, bytes, pointer);
        if (pointer == nullptr || !is_pool(pool)) return cudaErrorInvalidValue;
        return capture_allocation(*capture, bytes, function, pointer);
    });
}

// Bytes [offset, offset + count) of a variable.
cudaError_t locate(const void* symbol, std::size_t count, std::size_t offset, bool writes, void*& address) {
    Variable* variable = nullptr;
    if (const cudaError_t status = Registry::get().find_variable(symbol, variable); status != cudaSuccess)
        return status;
    if (offset > variable->bytes || count > variable->bytes - offset) {
        Writer request;
        request.put(variable->address).put(std::uint64_t{offset}).put(std::uint64_t{count});
        Connection::get().call(Op::refused_copy, request.put(std::uint8_t{writes}));
        return cudaErrorInvalidValue;
    }
    address = reinterpret_cast<void*>(variable->address + offset);
    return cudaSuccess;
}

cudaError_t to_symbol(const void* symbol, const void* source, std::size_t count, std::size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        void* address = nullptr;
        if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost) return cudaErrorInvalidMemcpyDirection;
        if (const cudaError_t status = locate(symbol, count, offset, true, address); status != cudaSuccess)
            return status;
        return copy(address, count, {source, count}, {count}, kind, id, asynchronous);
    });
}

cudaError_t from_symbol(void* destination, const void* symbol, std::size_t count, std::size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        void* address = nullptr;
        if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice) return cudaErrorInvalidMemcpyDirection;
        if (const cudaError_t status = locate(symbol, count, offset, false, address); status != cudaSuccess)
            return status;
        return copy(destination, count, {address, count}, {count}, kind, id, asynchronous);
    });
}

}  // namespace

cudaError_t CUDARTAPI cudaMemcpy(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind) {
    const CallSite site;
    return in_stream(nullptr, [&](std::uint32_t id) {
        return copy(destination, count, {source, count}, {count}, kind, id, false);
    });
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
    const CallSite site;
    return in_stream(stream, [&](std::uint32_t id) {
        return copy(destination, count, {source, count}, {count}, kind, id, true);
    });
}

cudaError_t CUDARTAPI cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source,
                                   std::size_t source_pitch, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind) {
    const CallSite site;
    return in_stream(nullptr, [&](std::uint32_t id) {
        return copy(destination, destination_pitch, {source, source_pitch}, {width, height}, kind, id, false);
    });
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source,
                                        std::size_t source_pitch, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return in_stream(stream, [&](std::uint32_t id) {
        return copy(destination, destination_pitch, {source, source_pitch}, {width, height}, kind, id, true);
    });
}

cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t count, std::size_t offset,
                                         cudaMemcpyKind kind) {
    const CallSite site;
    return to_symbol(symbol, source, count, offset, kind, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t count,
                                              std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return to_symbol(symbol, source, count, offset, kind, stream, true);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void* destination, const void* symbol, std::size_t count, std::size_t offset,
                                           cudaMemcpyKind kind) {
    const CallSite site;
    return from_symbol(destination, symbol, count, offset, kind, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, std::size_t count,
                                                std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return from_symbol(destination, symbol, count, offset, kind, stream, true);
}

cudaError_t CUDARTAPI cudaMemset(void* destination, int value, std::size_t count) {
    const CallSite site;
    return in_stream(nullptr, [&](std::uint32_t id) { return fill(destination, count, value, {count}, id); });
}

cudaError_t CUDARTAPI cudaMemsetAsync(void* destination, int value, std::size_t count, cudaStream_t stream) {
    const CallSite site;
    return in_stream(stream, [&](std::uint32_t id) { return fill(destination, count, value, {count}, id); });
}

cudaError_t CUDARTAPI cudaMemset2D(void* destination, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height) {
    const CallSite site;
    return in_stream(nullptr, [&](std::uint32_t id) { return fill(destination, pitch, value, {width, height}, id); });
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void* destination, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height, cudaStream_t stream) {
    const CallSite site;
    return in_stream(stream, [&](std::uint32_t id) { return fill(destination, pitch, value, {width, height}, id); });
}

// Stream-ordered memory. Allocating takes no time here and needs no order.
cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                              cudaStream_t stream) {
    const CallSite site;
    return allocate_in_stream(pointer, bytes, pool, stream, "cudaMallocFromPoolAsync");
}

cudaError_t CUDARTAPI cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    const CallSite site;
    return allocate_in_stream(pointer, bytes, current_pool(), stream, "cudaMallocAsync");
}

cudaError_t CUDARTAPI cudaFreeAsync(void* pointer, cudaStream_t stream) {
    const CallSite site;
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        if (pointer == nullptr) return cudaSuccess;
        if (CapturingStream* capture = find_capture(id)) return capture_free(*capture, pointer);
        const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
        const cudaError_t status = Connection::get().call(Op::free_ordered, Writer().put(address).put(id));
        if (status == cudaSuccess) record_free(pointer);
        return status;
    });
}
