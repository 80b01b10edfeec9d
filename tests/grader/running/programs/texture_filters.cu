// What a texture unit gives for linearly filtered fetches of pseudo-random texels at pseudo-random places, ties of the
// rounded position among them: a line is the hash of 1,024 results. texture_filters.h100.txt has digests of what an H100
// printed; the virtual GPU must print the same.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int width = 16, height = 8, fetches = 4096, block = 256;

std::uint64_t state = 88172645463325252u;

std::uint32_t next() {  // xorshift
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::uint32_t>(state >> 16);
}

float unit() { return static_cast<float>(next() >> 8) / 16777216; }

// Only finite values; floats of similar size, as pictures have.
float texel(float) { return (unit() - 0.5f) * 100; }
template <class T>
T texel(T) {
    return static_cast<T>(next());
}

template <int dimensions>
__global__ void fetch(cudaTextureObject_t texture, const float* x, const float* y, float* result) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if constexpr (dimensions == 1) result[i] = tex1D<float>(texture, x[i]);
    if constexpr (dimensions == 2) result[i] = tex2D<float>(texture, x[i], y[i]);
}

template <class T>
cudaArray_t random_array(int dimensions) {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<T>();
    cudaArray_t array = nullptr;
    const std::size_t rows = dimensions > 1 ? height : 1, row_bytes = width * sizeof(T);
    cudaMallocArray(&array, &channels, width, dimensions > 1 ? height : 0);
    std::vector<T> texels(width * rows);
    for (T& t : texels) t = texel(T{});
    cudaMemcpy2DToArray(array, 0, 0, texels.data(), row_bytes, row_bytes, rows, cudaMemcpyHostToDevice);
    return array;
}

// From one size before the texture to one behind it.
std::vector<float> places(int size, bool normalized) {
    std::vector<float> result(fetches);
    for (int i = 0; i < fetches; ++i) {
        float along = unit() * 3 - 1;
        if (i % 4 == 1)
            along = (static_cast<float>(static_cast<int>(along * 256)) + 0.5f) / 256 / (normalized ? size : 1);
        result[i] = normalized ? along : along * size;
    }
    return result;
}

template <class T, int dimensions>
void check(const char* name, cudaTextureAddressMode mode, bool normalized) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = random_array<T>(dimensions);
    cudaTextureDesc how{};
    for (int d = 0; d < dimensions; ++d) how.addressMode[d] = mode;
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = normalized;
    how.readMode = sizeof(T) == sizeof(float) ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);

    const int size[] = {width, height};
    float* along[2] = {};
    for (int d = 0; d < 2; ++d) {
        const std::vector<float> host = places(size[d], normalized);
        cudaMalloc(&along[d], fetches * sizeof(float));
        cudaMemcpy(along[d], host.data(), fetches * sizeof(float), cudaMemcpyHostToDevice);
    }
    std::vector<std::uint32_t> bits(fetches);
    float* result = nullptr;
    cudaMalloc(&result, fetches * sizeof(float));
    fetch<dimensions><<<fetches / block, block>>>(texture, along[0], along[1], result);
    cudaMemcpy(bits.data(), result, fetches * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < fetches;) {
        std::uint64_t hash = 14695981039346656037u;  // FNV-1a
        for (int n = 0; n < 1024; ++n) hash = (hash ^ bits[i++]) * 1099511628211u;
        std::printf("%s %dD mode %d %s before %d: %016llx\n", name, dimensions, static_cast<int>(mode),
                    normalized ? "normalized" : "texels", i, static_cast<unsigned long long>(hash));
    }
    for (float* coordinates : along) cudaFree(coordinates);
    cudaFree(result);
    cudaDestroyTextureObject(texture);
    cudaFreeArray(resource.res.array.array);
}

template <class T, int dimensions>
void check_modes(const char* name) {
    for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
        check<T, dimensions>(name, mode, true);
    for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder}) check<T, dimensions>(name, mode, false);
}

template <class T>
void check_dimensions(const char* name) {
    check_modes<T, 1>(name);
    check_modes<T, 2>(name);
}

int main() {
    check_dimensions<float>("float");
    check_dimensions<unsigned char>("unsigned char");
    check_dimensions<short>("short");
    check_dimensions<unsigned short>("unsigned short");
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
