// Texture and surface objects: checks CUDA's descriptors, translates them for the device, and keeps them for queries.
#include <optional>
#include <unordered_map>

#include "cudart/client/errors.hpp"
#include "cudart/state/array.hpp"

namespace warpgrade::cudart {
namespace {

using device::AddressMode;
using device::ChannelKind;
using device::ImageDescriptor;
using device::ImageId;
using device::ImageShape;
using device::ImageUse;

// Every allocation has at least this alignment, so a smaller one shows an offset into it.
constexpr std::uintptr_t linear_alignment = 256, row_alignment = 32;
// The same as cudaDeviceGetAttribute returns.
constexpr std::size_t max_linear_texels = std::size_t{1} << 28, max_pitched_width = 131072, max_pitched_height = 65000,
                      max_pitch = 2097120;

struct Object {
    ImageUse use = ImageUse::texture;
    cudaResourceDesc resource{};
    cudaTextureDesc texture{};
};

std::unordered_map<ImageId, Object>& objects() {
    static auto& all = *new std::unordered_map<ImageId, Object>;
    return all;
}

const Object* find_object(ImageId id, ImageUse use) {
    const auto found = objects().find(id);
    return found == objects().end() || found->second.use != use ? nullptr : &found->second;
}

cudaError_t describe_channels(const cudaChannelFormatDesc& channels, ImageDescriptor& image) {
    if (!is_valid(channels)) return cudaErrorInvalidChannelDescriptor;
    image.channels = static_cast<std::uint8_t>(1 + (channels.y != 0) + (channels.z != 0) + (channels.w != 0));
    image.channel_bits = static_cast<std::uint8_t>(channels.x);
    image.kind = channels.f == cudaChannelFormatKindSigned     ? ChannelKind::signed_integer
                 : channels.f == cudaChannelFormatKindUnsigned ? ChannelKind::unsigned_integer
                                                               : ChannelKind::floating;
    return cudaSuccess;
}

bool aligned(const void* pointer, std::uintptr_t to) { return reinterpret_cast<std::uintptr_t>(pointer) % to == 0; }

cudaError_t describe_linear(const cudaResourceDesc& resource, ImageDescriptor& image) {
    const auto& linear = resource.res.linear;
    if (linear.devPtr == nullptr || !aligned(linear.devPtr, linear_alignment)) return cudaErrorInvalidValue;
    const std::size_t texels = linear.sizeInBytes / image.texel_bytes();
    if (texels == 0 || texels > max_linear_texels) return cudaErrorInvalidValue;
    image.shape = ImageShape::linear;
    image.address = reinterpret_cast<std::uintptr_t>(linear.devPtr);
    image.width = static_cast<std::uint32_t>(texels);
    return cudaSuccess;
}

cudaError_t describe_pitched(const cudaResourceDesc& resource, ImageDescriptor& image) {
    const auto& rows = resource.res.pitch2D;
    if (rows.devPtr == nullptr || !aligned(rows.devPtr, linear_alignment) || rows.pitchInBytes % row_alignment != 0)
        return cudaErrorInvalidValue;
    if (rows.width == 0 || rows.width > max_pitched_width || rows.height == 0 || rows.height > max_pitched_height ||
        rows.pitchInBytes > max_pitch || rows.pitchInBytes < rows.width * image.texel_bytes())
        return cudaErrorInvalidValue;
    image.shape = ImageShape::pitched;
    image.address = reinterpret_cast<std::uintptr_t>(rows.devPtr);
    image.pitch = rows.pitchInBytes;
    image.width = static_cast<std::uint32_t>(rows.width), image.height = static_cast<std::uint32_t>(rows.height);
    return cudaSuccess;
}

void describe_array(const cudaArray& array, ImageDescriptor& image) {
    image.shape = ImageShape::array;
    image.address = array.address;
    image.pitch = array.pitch, image.slice_bytes = array.slice_bytes();
    image.width = static_cast<std::uint32_t>(array.extent.width);
    image.height = static_cast<std::uint32_t>(array.extent.height);
    image.depth = static_cast<std::uint32_t>(array.extent.depth);
    image.layered = (array.flags & cudaArrayLayered) != 0;
}

cudaError_t describe_resource(const cudaResourceDesc& resource, ImageDescriptor& image) {
    const auto with_channels = [&](const cudaChannelFormatDesc& channels, auto&& describe) {
        const cudaError_t status = describe_channels(channels, image);
        return status != cudaSuccess ? status : describe(resource, image);
    };
    switch (resource.resType) {
        case cudaResourceTypeLinear:
            return with_channels(resource.res.linear.desc, describe_linear);
        case cudaResourceTypePitch2D:
            return with_channels(resource.res.pitch2D.desc, describe_pitched);
        case cudaResourceTypeMipmappedArray:
            return not_supported("textures of mipmapped arrays");
        case cudaResourceTypeArray: {
            const cudaArray_t array = resource.res.array.array;
            if (array == nullptr) return cudaErrorInvalidValue;
            if (!is_array(array)) return cudaErrorInvalidResourceHandle;
            describe_array(*array, image);
            return describe_channels(array->channels, image);
        }
        default:
            return cudaErrorInvalidValue;
    }
}

std::optional<AddressMode> translate(cudaTextureAddressMode mode) {
    switch (mode) {
        case cudaAddressModeWrap:
            return AddressMode::wrap;
        case cudaAddressModeClamp:
            return AddressMode::clamp;
        case cudaAddressModeMirror:
            return AddressMode::mirror;
        case cudaAddressModeBorder:
            return AddressMode::border;
        default:
            return std::nullopt;
    }
}

// Like CUDA, linear memory ignores the settings that do not apply to it.
cudaError_t describe_reading(const cudaTextureDesc& texture, ImageDescriptor& image) {
    if (texture.sRGB != 0) return not_supported("textures with sRGB colours");
    const bool integers = image.kind != ChannelKind::floating;
    if (texture.readMode != cudaReadModeElementType && texture.readMode != cudaReadModeNormalizedFloat)
        return cudaErrorInvalidValue;
    const bool normalized = texture.readMode == cudaReadModeNormalizedFloat;
    if (normalized && integers && image.channel_bits == 32) return cudaErrorInvalidNormSetting;
    image.normalized_values = normalized && integers;
    if (image.shape == ImageShape::linear) return cudaSuccess;

    if (texture.maxAnisotropy > 1) return not_supported("anisotropic filtering of textures");
    for (unsigned d = 0; d < 3; ++d) {
        const auto mode = translate(texture.addressMode[d]);
        if (!mode) return cudaErrorInvalidValue;
        image.address_mode[d] = *mode;
    }
    if (texture.filterMode != cudaFilterModePoint && texture.filterMode != cudaFilterModeLinear)
        return cudaErrorInvalidValue;
    image.linear_filter = texture.filterMode == cudaFilterModeLinear;
    if (image.linear_filter && integers && !normalized) return cudaErrorInvalidFilterSetting;
    image.normalized_coordinates = texture.normalizedCoords != 0;
    for (unsigned c = 0; c < 4; ++c) image.border[c] = texture.borderColor[c];
    bool border = false, coloured = false;
    for (unsigned i = 0; i < 4; ++i) {
        border |= i < 3 && image.address_mode[i] == AddressMode::border;
        coloured |= image.border[i] != 0;
    }
    if (border && coloured && integers && !normalized)
        return not_supported("border colours of textures that are read as integers");
    return cudaSuccess;
}

cudaError_t create(Connection& connection, const ImageDescriptor& image, Object object, unsigned long long* result) {
    Writer request;
    wire::put(request, image);
    ImageId id = 0;
    const cudaError_t status = connection.call_for(Op::create_image, request, id);
    if (status != cudaSuccess) return status;
    object.use = image.use;
    objects()[id] = object;
    *result = id;
    return cudaSuccess;
}

cudaError_t destroy(ImageId id, ImageUse use) {
    return device_api([&](Connection& connection) -> cudaError_t {
        if (id == 0) return cudaSuccess;
        if (find_object(id, use) == nullptr) return cudaErrorInvalidValue;
        objects().erase(id);
        return connection.call(Op::destroy_image, Writer().put(id));
    });
}

template <class Description>
cudaError_t tell(Description* result, ImageId id, ImageUse use, Description Object::*part) {
    return device_api([&](Connection&) -> cudaError_t {
        const Object* object = find_object(id, use);
        if (result == nullptr || object == nullptr) return cudaErrorInvalidValue;
        *result = object->*part;
        return cudaSuccess;
    });
}

}  // namespace

void forget_images() { objects().clear(); }

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                              const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
    return device_api([&](Connection& connection) -> cudaError_t {
        if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
        if (texture == nullptr) return cudaErrorInvalidResourceHandle;  // like NVIDIA's runtime
        const bool memory = resource->resType == cudaResourceTypeLinear || resource->resType == cudaResourceTypePitch2D;
        if (view != nullptr) return memory ? cudaErrorInvalidValue : not_supported("resource views of textures");
        ImageDescriptor image;
        image.use = ImageUse::texture;
        if (const cudaError_t status = describe_resource(*resource, image); status != cudaSuccess) return status;
        if (const cudaError_t status = describe_reading(*texture, image); status != cudaSuccess) return status;
        return create(connection, image, {ImageUse::texture, *resource, *texture}, object);
    });
}

cudaError_t CUDARTAPI cudaDestroyTextureObject(cudaTextureObject_t object) {
    return destroy(object, ImageUse::texture);
}

cudaError_t CUDARTAPI cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object) {
    return tell(resource, object, ImageUse::texture, &Object::resource);
}

cudaError_t CUDARTAPI cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
    return tell(texture, object, ImageUse::texture, &Object::texture);
}

cudaError_t CUDARTAPI cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
    return device_api([&](Connection& connection) -> cudaError_t {
        if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
        if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
        ImageDescriptor image;
        image.use = ImageUse::surface;
        if (const cudaError_t status = describe_resource(*resource, image); status != cudaSuccess) return status;
        if ((resource->res.array.array->flags & cudaArraySurfaceLoadStore) == 0) return cudaErrorInvalidValue;
        return create(connection, image, {ImageUse::surface, *resource, {}}, object);
    });
}

cudaError_t CUDARTAPI cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    return destroy(object, ImageUse::surface);
}

cudaError_t CUDARTAPI cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object) {
    return tell(resource, object, ImageUse::surface, &Object::resource);
}

// Resource views are not supported, so no object has one.
cudaError_t CUDARTAPI cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*, cudaTextureObject_t) {
    return device_api([](Connection&) { return cudaErrorInvalidValue; });
}
