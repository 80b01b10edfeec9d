#include "cudart/state/array.hpp"

#include <memory>
#include <unordered_map>

#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"

namespace warpgrade::cudart {
namespace {

// As on devices of compute capability 5.0 and later.
constexpr std::size_t max_width = 131072, max_height = 65536, max_depth = 16384;

std::unordered_map<cudaArray_const_t, std::unique_ptr<cudaArray>>& arrays() {
    static auto& all = *new std::unordered_map<cudaArray_const_t, std::unique_ptr<cudaArray>>;
    return all;
}

cudaError_t make_array(Connection& connection, cudaArray_t* result, const cudaChannelFormatDesc* channels,
                       cudaExtent extent, unsigned flags) {
    constexpr unsigned known = cudaArrayLayered | cudaArrayCubemap | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
    if (result == nullptr || channels == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaArrayCubemap) != 0) return not_supported("cubemap arrays");
    if (!is_valid(*channels)) return cudaErrorInvalidChannelDescriptor;
    if (extent.width == 0 || extent.width > max_width || extent.height > max_height || extent.depth > max_depth)
        return cudaErrorInvalidValue;
    auto array = std::make_unique<cudaArray>();
    array->channels = *channels, array->extent = extent, array->flags = flags;
    array->pitch = (extent.width * array->element_bytes() + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    const std::uint64_t bytes = array->slice_bytes() * array->slices();
    const cudaError_t status =
        connection.call_for(Op::allocate, Writer().put(bytes).put_string("cudaMallocArray"), array->address);
    if (status != cudaSuccess) return status;
    *result = array.get();
    arrays()[*result] = std::move(array);
    return cudaSuccess;
}

}  // namespace

bool is_valid(const cudaChannelFormatDesc& channels) {
    const int list[] = {channels.x, channels.y, channels.z, channels.w};
    int count = 0;
    while (count < 4 && list[count] != 0) ++count;
    for (int i = 0; i < 4; ++i)
        if (list[i] != (i < count ? channels.x : 0)) return false;
    const bool floating = channels.f == cudaChannelFormatKindFloat;
    if (!floating && channels.f != cudaChannelFormatKindSigned && channels.f != cudaChannelFormatKindUnsigned)
        return false;
    const bool width = channels.x == 16 || channels.x == 32 || (channels.x == 8 && !floating);
    return width && (count == 1 || count == 2 || count == 4);
}

bool is_array(cudaArray_const_t array) { return arrays().count(array) != 0; }

void forget_arrays() { arrays().clear(); }

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels, std::size_t width,
                                      std::size_t height, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection& connection) -> cudaError_t {
        if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) return cudaErrorInvalidValue;
        return make_array(connection, array, channels, {width, height, 0}, flags);
    });
}

cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels, cudaExtent extent,
                                        unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection& connection) { return make_array(connection, array, channels, extent, flags); });
}

cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t array) {
    const CallSite site;
    return device_api([&](Connection& connection) -> cudaError_t {
        if (array == nullptr) return cudaSuccess;
        if (!is_array(array)) return cudaErrorInvalidResourceHandle;
        const cudaError_t status = connection.call(Op::free_memory, Writer().put(array->address));
        if (status == cudaSuccess) arrays().erase(array);
        return status;
    });
}

cudaError_t CUDARTAPI cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned int* flags,
                                       cudaArray_t array) {
    return device_api([&](Connection&) {
        if (!is_array(array)) return cudaErrorInvalidResourceHandle;
        if (channels != nullptr) *channels = array->channels;
        if (extent != nullptr) *extent = array->extent;
        if (flags != nullptr) *flags = array->flags;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
    return device_api([&](Connection&) {
        if (channels == nullptr) return cudaErrorInvalidValue;
        if (!is_array(array)) return cudaErrorInvalidResourceHandle;
        *channels = array->channels;
        return cudaSuccess;
    });
}
