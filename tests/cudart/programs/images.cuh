// Arrays, textures and fetches, as the test programs of textures and surfaces need them.
#pragma once

#include "checks.cuh"

// The place of a fetch, and its result.
struct Position {
    float x, y, z;
    int layer;
};

template <class T>
__global__ void fetch_by_index(cudaTextureObject_t texture, const int* at, T* result, int n) {
    if (const int i = threadIdx.x; i < n) result[i] = tex1Dfetch<T>(texture, at[i]);
}
template <class T, int Form>
__global__ void fetch(cudaTextureObject_t texture, const Position* at, T* result, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const Position p = at[i];
    if constexpr (Form == 1) result[i] = tex1D<T>(texture, p.x);
    if constexpr (Form == 2) result[i] = tex2D<T>(texture, p.x, p.y);
    if constexpr (Form == 3) result[i] = tex3D<T>(texture, p.x, p.y, p.z);
    if constexpr (Form == 11) result[i] = tex1DLayered<T>(texture, p.x, p.layer);
    if constexpr (Form == 12) result[i] = tex2DLayered<T>(texture, p.x, p.y, p.layer);
    if constexpr (Form == 22) result[i] = tex2DLod<T>(texture, p.x, p.y, p.z);
}

template <class T, int Form>
std::vector<T> read(cudaTextureObject_t texture, const std::vector<Position>& at) {
    Position* places = upload(at);
    T* result = upload(std::vector<T>(at.size()));
    fetch<T, Form><<<1, 64>>>(texture, places, result, static_cast<int>(at.size()));
    OK(cudaDeviceSynchronize());
    const auto found = download(result, at.size());
    OK(cudaFree(places));
    OK(cudaFree(result));
    return found;
}

template <class T>
std::vector<T> read_by_index(cudaTextureObject_t texture, const std::vector<int>& at) {
    int* places = upload(at);
    T* result = upload(std::vector<T>(at.size()));
    fetch_by_index<T><<<1, 64>>>(texture, places, result, static_cast<int>(at.size()));
    OK(cudaDeviceSynchronize());
    return download(result, at.size());
}

inline std::vector<Position> along_x(const std::vector<float>& xs) {
    std::vector<Position> at;
    for (const float x : xs) at.push_back({x, 0.5f, 0.5f, 0});
    return at;
}

template <class T>
cudaResourceDesc linear(const std::vector<T>& values) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = upload(values);
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = values.size() * sizeof(T);
    return resource;
}

inline cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

template <class T>
cudaArray_t array_of(const std::vector<T>& values, std::size_t width, std::size_t height = 0, std::size_t depth = 0,
                     unsigned flags = 0) {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<T>();
    cudaArray_t array = nullptr;
    OK(cudaMalloc3DArray(&array, &channels, {width, height, depth}, flags));
    const std::size_t rows = height ? height : 1, slices = depth ? depth : 1;
    EXPECT(values.size() == width * rows * slices);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {const_cast<T*>(values.data()), width * sizeof(T), width, rows};
    copy.dstArray = array;
    copy.extent = {width, rows, slices};
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    return array;
}

inline cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const cudaTextureDesc& texture) {
    cudaTextureObject_t object = 0;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    EXPECT(object != 0);
    return object;
}

inline cudaTextureDesc reading(cudaTextureAddressMode mode = cudaAddressModeClamp,
                        cudaTextureFilterMode filter = cudaFilterModePoint, bool normalized = false) {
    cudaTextureDesc texture{};
    for (auto& m : texture.addressMode) m = mode;
    texture.filterMode = filter;
    texture.normalizedCoords = normalized;
    return texture;
}
