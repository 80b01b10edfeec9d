// Copies and fills of boxes, pitched or in arrays. Compiled once for each meaning of stream 0.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/array.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/stream/in_stream.hpp"
#include "cudart/stream/transfer.hpp"

using namespace warpgrade::cudart;

namespace {

// One side of a copy: rows `pitch` apart in slices of `rows` rows.
struct Box {
    std::byte* data = nullptr;
    std::size_t pitch = 0, rows = 0;
    bool in_array = false;
};

// `position` counts elements in an array and bytes elsewhere; rows and slices in both.
cudaError_t locate(cudaArray_const_t array, const cudaPitchedPtr& pointer, const cudaPos& position,
                   const cudaExtent& extent, std::size_t element, Box& box) {
    if (array != nullptr) {
        if (pointer.ptr != nullptr) return cudaErrorInvalidValue;
        const bool inside = fits(position.x, extent.width, array->extent.width) &&
                            fits(position.y, extent.height, array->rows()) &&
                            fits(position.z, extent.depth, array->slices());
        if (!inside) return cudaErrorInvalidValue;
        box = {array->data() + position.z * array->slice_bytes() + position.y * array->pitch + position.x * element,
               array->pitch, array->rows(), true};
        return cudaSuccess;
    }
    std::size_t offset = 0, slice = 0;
    if (pointer.ptr == nullptr || __builtin_mul_overflow(pointer.pitch, pointer.ysize, &slice) ||
        __builtin_mul_overflow(slice, position.z, &offset) ||
        __builtin_add_overflow(offset, position.y * pointer.pitch + position.x, &offset))
        return cudaErrorInvalidValue;
    box = {static_cast<std::byte*>(pointer.ptr) + offset, pointer.pitch, pointer.ysize, false};
    return cudaSuccess;
}

cudaError_t copy_box(const Box& to, const Box& from, const cudaExtent& extent, std::size_t width, cudaMemcpyKind kind,
                     std::uint32_t stream, bool asynchronous) {
    if (width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    if (extent.depth > 1 && (to.rows < extent.height || from.rows < extent.height)) return cudaErrorInvalidValue;
    // Slices without gaps are copied as one sequence of rows.
    const bool dense = extent.depth == 1 || (to.rows == extent.height && from.rows == extent.height);
    std::size_t all_rows = 0;
    if (dense && __builtin_mul_overflow(extent.height, extent.depth, &all_rows)) return cudaErrorInvalidValue;
    if (dense) return copy(to.data, to.pitch, {from.data, from.pitch}, {width, all_rows}, kind, stream, asynchronous);
    for (std::size_t slice = 0; slice < extent.depth; ++slice) {
        const cudaError_t status = copy(to.data + slice * to.rows * to.pitch, to.pitch,
                                        {from.data + slice * from.rows * from.pitch, from.pitch},
                                        {width, extent.height}, kind, stream, asynchronous);
        if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
}

cudaError_t copy_volume(const cudaMemcpy3DParms* what, cudaStream_t stream, bool asynchronous) {
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        if (what == nullptr) return cudaErrorInvalidValue;
        if ((what->srcArray != nullptr && !is_array(what->srcArray)) ||
            (what->dstArray != nullptr && !is_array(what->dstArray)))
            return cudaErrorInvalidResourceHandle;
        // The width counts elements if either side is an array.
        std::size_t element = 1, width = 0;
        if (what->srcArray != nullptr) element = what->srcArray->element_bytes();
        if (what->dstArray != nullptr) {
            const std::size_t other = what->dstArray->element_bytes();
            if (what->srcArray != nullptr && other != element) return cudaErrorInvalidValue;
            element = other;
        }
        if (__builtin_mul_overflow(what->extent.width, element, &width)) return cudaErrorInvalidValue;
        Box to, from;
        cudaError_t status = locate(what->dstArray, what->dstPtr, what->dstPos, what->extent, element, to);
        if (status != cudaSuccess) return status;
        status = locate(what->srcArray, what->srcPtr, what->srcPos, what->extent, element, from);
        if (status != cudaSuccess) return status;
        return copy_box(to, from, what->extent, width, what->kind, id, asynchronous);
    });
}

cudaError_t copy_peer_volume(const cudaMemcpy3DPeerParms* what, cudaStream_t stream, bool asynchronous) {
    if (what == nullptr) return remember(cudaErrorInvalidValue);
    if (what->srcDevice != 0 || what->dstDevice != 0) return remember(cudaErrorInvalidDevice);
    cudaMemcpy3DParms same{};
    same.srcArray = what->srcArray, same.srcPos = what->srcPos, same.srcPtr = what->srcPtr;
    same.dstArray = what->dstArray, same.dstPos = what->dstPos, same.dstPtr = what->dstPtr;
    same.extent = what->extent, same.kind = cudaMemcpyDeviceToDevice;
    return copy_volume(&same, stream, asynchronous);
}

cudaError_t fill_volume(cudaPitchedPtr where, int value, cudaExtent extent, cudaStream_t stream) {
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        std::size_t all_rows = 0, slice = 0;
        if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
        if (where.ptr == nullptr || __builtin_mul_overflow(extent.height, extent.depth, &all_rows) ||
            __builtin_mul_overflow(where.pitch, where.ysize, &slice) ||
            (extent.depth > 1 && where.ysize < extent.height))
            return cudaErrorInvalidValue;
        if (extent.depth == 1 || where.ysize == extent.height)
            return fill(where.ptr, where.pitch, value, {extent.width, all_rows}, id);
        for (std::size_t z = 0; z < extent.depth; ++z) {
            const cudaError_t status = fill(static_cast<std::byte*>(where.ptr) + z * slice, where.pitch, value,
                                            {extent.width, extent.height}, id);
            if (status != cudaSuccess) return status;
        }
        return cudaSuccess;
    });
}

// Rows between an array and other memory; the offset and the width count bytes.
cudaError_t array_rows(cudaArray_const_t array, std::size_t x, std::size_t y, Box& box, std::size_t width,
                       std::size_t height) {
    if (!is_array(array)) return cudaErrorInvalidResourceHandle;
    if (!fits(x, width, array->extent.width * array->element_bytes()) || !fits(y, height, array->rows()))
        return cudaErrorInvalidValue;
    box = {array->data() + y * array->pitch + x, array->pitch, array->rows(), true};
    return cudaSuccess;
}

cudaError_t to_array(cudaArray_t array, std::size_t x, std::size_t y, const void* source, std::size_t pitch,
                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                     bool asynchronous) {
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        Box box;
        if (const cudaError_t status = array_rows(array, x, y, box, width, height); status != cudaSuccess)
            return status;
        return copy(box.data, box.pitch, {source, pitch}, {width, height}, kind, id, asynchronous);
    });
}

cudaError_t from_array(void* destination, std::size_t pitch, cudaArray_const_t array, std::size_t x, std::size_t y,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                       bool asynchronous) {
    return in_stream(stream, [&](std::uint32_t id) -> cudaError_t {
        Box box;
        if (const cudaError_t status = array_rows(array, x, y, box, width, height); status != cudaSuccess)
            return status;
        return copy(destination, pitch, {box.data, box.pitch}, {width, height}, kind, id, asynchronous);
    });
}

// `count` bytes in row order from (x, y): the rest of a row, then whole rows, then the beginning of a row.
template <class CopyRow>
cudaError_t in_row_order(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t count, CopyRow&& copy_row) {
    if (!is_array(array)) return cudaErrorInvalidResourceHandle;
    const std::size_t row = array->extent.width * array->element_bytes();
    if (x >= row || y >= array->rows() || count > (array->rows() - y) * row - x) return cudaErrorInvalidValue;
    for (std::size_t done = 0; done < count; ++y, x = 0) {
        const std::size_t part = std::min(row - x, count - done);
        if (const cudaError_t status = copy_row(x, y, done, part); status != cudaSuccess) return status;
        done += part;
    }
    return cudaSuccess;
}

cudaError_t to_array_linear(cudaArray_t array, std::size_t x, std::size_t y, const void* source, std::size_t count,
                            cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
    return in_row_order(array, x, y, count, [&](std::size_t column, std::size_t line, std::size_t done, std::size_t n) {
        return to_array(array, column, line, static_cast<const std::byte*>(source) + done, n, n, 1, kind, stream,
                        asynchronous);
    });
}

cudaError_t from_array_linear(void* destination, cudaArray_const_t array, std::size_t x, std::size_t y,
                              std::size_t count, cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
    return in_row_order(array, x, y, count, [&](std::size_t column, std::size_t line, std::size_t done, std::size_t n) {
        return from_array(static_cast<std::byte*>(destination) + done, n, array, column, line, n, 1, kind, stream,
                          asynchronous);
    });
}

}  // namespace

cudaError_t CUDARTAPI cudaMemcpy3D(const cudaMemcpy3DParms* what) {
    const CallSite site;
    return copy_volume(what, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpy3DAsync(const cudaMemcpy3DParms* what, cudaStream_t stream) {
    const CallSite site;
    return copy_volume(what, stream, true);
}

cudaError_t CUDARTAPI cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* what) {
    const CallSite site;
    return copy_peer_volume(what, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* what, cudaStream_t stream) {
    const CallSite site;
    return copy_peer_volume(what, stream, true);
}

cudaError_t CUDARTAPI cudaMemset3D(cudaPitchedPtr where, int value, cudaExtent extent) {
    const CallSite site;
    return fill_volume(where, value, extent, nullptr);
}

cudaError_t CUDARTAPI cudaMemset3DAsync(cudaPitchedPtr where, int value, cudaExtent extent, cudaStream_t stream) {
    const CallSite site;
    return fill_volume(where, value, extent, stream);
}

cudaError_t CUDARTAPI cudaMemcpy2DToArray(cudaArray_t array, std::size_t x, std::size_t y, const void* source,
                                          std::size_t pitch, std::size_t width, std::size_t height,
                                          cudaMemcpyKind kind) {
    const CallSite site;
    return to_array(array, x, y, source, pitch, width, height, kind, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync(cudaArray_t array, std::size_t x, std::size_t y, const void* source,
                                               std::size_t pitch, std::size_t width, std::size_t height,
                                               cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return to_array(array, x, y, source, pitch, width, height, kind, stream, true);
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArray(void* destination, std::size_t pitch, cudaArray_const_t array,
                                            std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind) {
    const CallSite site;
    return from_array(destination, pitch, array, x, y, width, height, kind, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync(void* destination, std::size_t pitch, cudaArray_const_t array,
                                                 std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                                                 cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return from_array(destination, pitch, array, x, y, width, height, kind, stream, true);
}

cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                               cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                               std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    const CallSite site;
    return in_stream(nullptr, [&](std::uint32_t id) -> cudaError_t {
        Box target, source;
        if (const cudaError_t status = array_rows(to, to_x, to_y, target, width, height); status != cudaSuccess)
            return status;
        if (const cudaError_t status = array_rows(from, from_x, from_y, source, width, height); status != cudaSuccess)
            return status;
        return copy(target.data, target.pitch, {source.data, source.pitch}, {width, height}, kind, id, false);
    });
}

cudaError_t CUDARTAPI cudaMemcpyToArray(cudaArray_t array, std::size_t x, std::size_t y, const void* source,
                                        std::size_t count, cudaMemcpyKind kind) {
    const CallSite site;
    return to_array_linear(array, x, y, source, count, kind, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpyToArrayAsync(cudaArray_t array, std::size_t x, std::size_t y, const void* source,
                                             std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return to_array_linear(array, x, y, source, count, kind, stream, true);
}

cudaError_t CUDARTAPI cudaMemcpyFromArray(void* destination, cudaArray_const_t array, std::size_t x, std::size_t y,
                                          std::size_t count, cudaMemcpyKind kind) {
    const CallSite site;
    return from_array_linear(destination, array, x, y, count, kind, nullptr, false);
}

cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync(void* destination, cudaArray_const_t array, std::size_t x, std::size_t y,
                                               std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    const CallSite site;
    return from_array_linear(destination, array, x, y, count, kind, stream, true);
}
