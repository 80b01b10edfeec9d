// Texture objects: what each kind of fetch returns, worked out by hand. Linked with NVIDIA's own runtime, fetches of
// points and filtering along one dimension hold on an H100 too; what is refused there differs.
#include <cstdint>
#include <limits>

#include "images.cuh"

namespace {

void check_linear_memory() {
    const auto numbers = texture_of(linear(std::vector<float>{1.5f, -2, 3}), {});
    // Beyond the end, and before the beginning, there is zero.
    EXPECT((read_by_index<float>(numbers, {0, 2, 1, 3, -1, 1 << 30}) == std::vector<float>{1.5f, 3, -2, 0, 0, 0}));
    const auto bytes = texture_of(linear(std::vector<signed char>{-1, 127, -128}), {});
    EXPECT((read_by_index<signed char>(bytes, {0, 1, 2}) == std::vector<signed char>{-1, 127, -128}));
    const auto pairs = texture_of(linear(std::vector<uint2>{{1, 2}, {3, 4000000000u}}), {});
    EXPECT(read_by_index<uint2>(pairs, {1})[0].y == 4000000000u);
    const auto colours = texture_of(linear(std::vector<uchar4>{{1, 2, 3, 4}, {255, 254, 253, 252}}), {});
    const uchar4 colour = read_by_index<uchar4>(colours, {1})[0];
    EXPECT(colour.x == 255 && colour.y == 254 && colour.z == 253 && colour.w == 252);
    OK(cudaDestroyTextureObject(numbers));
}

void check_addressing() {
    const auto array = resource_of(array_of(std::vector<float>{10, 20, 30, 40}, 4));
    const auto floats = [&](const cudaTextureDesc& how, const std::vector<float>& xs) {
        const auto texture = texture_of(array, how);
        const auto found = read<float, 1>(texture, along_x(xs));
        OK(cudaDestroyTextureObject(texture));
        return found;
    };
    using Floats = std::vector<float>;
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT((floats(reading(), {-7, 0, 0.99f, 1, 3.5f, 4, 1e30f, -infinity, infinity}) ==
            Floats{10, 10, 10, 20, 40, 40, 40, 10, 40}));
    auto border = reading(cudaAddressModeBorder);
    border.borderColor[0] = 7;
    EXPECT((floats(border, {-0.01f, 0, 3.99f, 4, -1e30f}) == Floats{7, 10, 40, 7, 7}));
    // Wrapping and mirroring need normalized coordinates; others are clamped.
    EXPECT((floats(reading(cudaAddressModeWrap), {-1, 5}) == Floats{10, 40}));
    const auto normalized = [](cudaTextureAddressMode mode) { return reading(mode, cudaFilterModePoint, true); };
    EXPECT((floats(normalized(cudaAddressModeWrap), {0.3f, 1.3f, -0.7f, -0.1f, 2, 100.6f}) ==
            Floats{20, 20, 20, 40, 10, 30}));
    EXPECT((floats(normalized(cudaAddressModeMirror), {0.3f, 1.1f, 1.3f, 1.9f, 2.1f, -0.1f, -0.3f, -1.1f}) ==
            Floats{20, 40, 30, 10, 10, 10, 20, 40}));
    EXPECT((floats(normalized(cudaAddressModeClamp), {-3, 0.5f, 1, 3}) == Floats{10, 30, 40, 40}));
    border.normalizedCoords = 1;
    EXPECT((floats(border, {-0.1f, 0.1f, 0.99f, 1}) == Floats{7, 10, 40, 7}));
}

void check_filtering() {
    using Floats = std::vector<float>;
    const auto line = resource_of(array_of(Floats{0, 256, 1280, 0}, 4));
    const auto floats = [&](const cudaTextureDesc& how, const std::vector<float>& xs) {
        return read<float, 1>(texture_of(line, how), along_x(xs));
    };
    // Texels have their values at their centres.
    EXPECT((floats(reading(cudaAddressModeClamp, cudaFilterModeLinear), {0, 0.5f, 1, 1.5f, 2, 2.25f, 4, 9}) ==
            Floats{0, 0, 128, 256, 768, 1024, 0, 0}));
    // The position between two texels has 8 fractional bits.
    EXPECT((floats(reading(cudaAddressModeClamp, cudaFilterModeLinear),
                   {0.5f + 1 / 256.0f, 0.5f + 1 / 1024.0f, 0.5f + 3 / 1024.0f, 1.5f - 1 / 256.0f, 1.5f - 1 / 1024.0f}) ==
            Floats{1, 0, 1, 255, 256}));
    // Across the edge: the first texel's neighbour.
    EXPECT((floats(reading(cudaAddressModeWrap, cudaFilterModeLinear, true), {0.25f, 1.25f, 0, 0.5f + 0.125f}) ==
            Floats{128, 128, 0, 1280}));
    EXPECT((floats(reading(cudaAddressModeMirror, cudaFilterModeLinear, true), {1.125f, -0.25f, 1.5f}) ==
            Floats{0, 128, 768}));
    // Along x alone: a real GPU filters a line along y too, where a border would take half of it.
    auto border = reading(cudaAddressModeClamp, cudaFilterModeLinear);
    border.addressMode[0] = cudaAddressModeBorder;
    border.borderColor[0] = 512;
    EXPECT((floats(border, {0, 0.25f, -0.5f, 4, -2}) == Floats{256, 128, 512, 256, 512}));

    // Two dimensions: 3 × 2 texels; weights are products, rounded to 1/256.
    const std::vector<float> t = {0, 65536, 3 * 65536, 5 * 65536, 7 * 65536, 11 * 65536};
    const auto plane = texture_of(resource_of(array_of(t, 3, 2)), reading(cudaAddressModeClamp, cudaFilterModeLinear));
    const int a = 37, b = 201;  // of 256
    const auto found = read<float, 2>(plane, {{0.5f + a / 256.0f, 0.5f + b / 256.0f, 0, 0}, {2.5f, 1, 0, 0}, {1, 9, 0, 0}});
    const int both = (a * b + 128) / 256;
    EXPECT(found[0] == static_cast<float>(256 * ((a - both) * 1 + (b - both) * 5 + both * 7)));
    EXPECT(found[1] == 7 * 65536 && found[2] == 6 * 65536);
    EXPECT((read<float, 22>(plane, {{2.5f, 1, 3, 0}}) == Floats{7 * 65536}));

    // Three: the middle of eight texels.
    const auto cube = texture_of(resource_of(array_of(Floats{1, 2, 3, 4, 5, 6, 7, 80}, 2, 2, 2)),
                                 reading(cudaAddressModeClamp, cudaFilterModeLinear));
    EXPECT((read<float, 3>(cube, {{1, 1, 1, 0}, {0.5f, 0.5f, 1, 0}, {1.5f, 1.5f, 1.5f, 0}}) == Floats{13.5f, 3, 80}));
}

void check_formats() {
    auto normalized = reading();
    normalized.readMode = cudaReadModeNormalizedFloat;
    const auto first = [&](const cudaResourceDesc& resource) {
        return read<float, 1>(texture_of(resource, normalized), along_x({0.5f, 1.5f, 2.5f}));
    };
    using Floats = std::vector<float>;
    EXPECT((first(resource_of(array_of(std::vector<unsigned char>{0, 255, 51}, 3))) == Floats{0, 1, 51 / 255.0f}));
    EXPECT((first(resource_of(array_of(std::vector<signed char>{-128, -127, 127}, 3))) == Floats{-1, -1, 1}));
    EXPECT((first(resource_of(array_of(std::vector<unsigned short>{1, 65535, 0}, 3))) == Floats{1 / 65535.0f, 1, 0}));
    EXPECT((first(resource_of(array_of(std::vector<short>{-32768, 32767, 0}, 3))) == Floats{-1, 1, 0}));
    // Filtered after that, as numbers of 16 bits: half way between 0 and 1 is 32768 / 65535.
    const float half = 32768 / 65535.0f;
    normalized.filterMode = cudaFilterModeLinear;
    const Floats half_way = read<float, 1>(
        texture_of(resource_of(array_of(std::vector<unsigned char>{0, 255, 51}, 3)), normalized), along_x({1, 1.5f}));
    EXPECT(half_way[0] == half && half_way[1] == 1);
    const auto four = texture_of(
        resource_of(array_of(std::vector<uchar4>{{0, 51, 102, 255}, {255, 51, 0, 255}}, 2, 1)), normalized);
    const float4 mixed = read<float4, 2>(four, {{1, 0.5f, 0, 0}})[0];
    EXPECT(mixed.x == half && mixed.y == 51 / 255.0f && mixed.z == 0.2f && mixed.w == 1);

    // Half precision is read as float.
    const cudaChannelFormatDesc half_channel = cudaCreateChannelDescHalf();
    const std::uint16_t halves[] = {0x3C00, 0xC100, 0x0001};  // 1, -2.5, 2^-24
    cudaArray_t array = nullptr;
    OK(cudaMallocArray(&array, &half_channel, 3));
    OK(cudaMemcpy2DToArray(array, 0, 0, halves, sizeof halves, sizeof halves, 1, cudaMemcpyHostToDevice));
    EXPECT((read<float, 1>(texture_of(resource_of(array), reading()), along_x({0.5f, 1.5f, 2.5f})) ==
            Floats{1, -2.5f, 0x1p-24f}));
    // Integers as they are.
    const auto integers = texture_of(resource_of(array_of(std::vector<int4>{{-1, 2, -3, 4}}, 1)), reading());
    const int4 v = read<int4, 1>(integers, along_x({0.5f}))[0];
    EXPECT(v.x == -1 && v.y == 2 && v.z == -3 && v.w == 4);
    const auto shorts = texture_of(resource_of(array_of(std::vector<short2>{{-5, 6}}, 1)), reading());
    const short2 s = read<short2, 1>(shorts, along_x({0.5f}))[0];
    EXPECT(s.x == -5 && s.y == 6);
}

void check_pitched() {
    const int width = 5, height = 3;
    std::vector<float> values(width * height);
    for (int i = 0; i < width * height; ++i) values[i] = static_cast<float>(i);
    float* rows = nullptr;
    std::size_t pitch = 0;
    OK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    OK(cudaMemcpy2D(rows, pitch, values.data(), width * sizeof(float), width * sizeof(float), height,
                    cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {rows, cudaCreateChannelDesc<float>(), width, height, pitch};
    const auto texture = texture_of(resource, reading(cudaAddressModeWrap, cudaFilterModePoint, true));
    // As NVIDIA's sample simplePitchLinearTexture shifts a picture.
    std::vector<Position> at;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) at.push_back({(x + 2 + 0.5f) / width, (y + 1 + 0.5f) / height, 0, 0});
    const auto shifted = read<float, 2>(texture, at);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            EXPECT(shifted[y * width + x] == values[(y + 1) % height * width + (x + 2) % width]);
    // What is written between two launches is read.
    OK(cudaMemset2D(rows, pitch, 0, width * sizeof(float), 1));
    EXPECT((read<float, 2>(texture, {{0.5f, 0.1f, 0, 0}, {0.1f, 0.5f, 0, 0}}) == std::vector<float>{0, 5}));
}

void check_layers() {
    std::vector<float> values(3 * 2 * 4);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const auto planes = texture_of(resource_of(array_of(values, 3, 2, 4, cudaArrayLayered)),
                                   reading(cudaAddressModeClamp, cudaFilterModeLinear));
    // Layers are not filtered, and there is none behind the last.
    EXPECT((read<float, 12>(planes, {{0.5f, 0.5f, 0, 2}, {1, 1.5f, 0, 3}, {9, 9, 0, 1}, {0.5f, 0.5f, 0, 100}}) ==
            std::vector<float>{12, 21.5f, 11, 18}));
    const auto lines = texture_of(resource_of(array_of(values, 6, 0, 4, cudaArrayLayered)), reading());
    EXPECT((read<float, 11>(lines, {{5.5f, 0, 0, 0}, {0, 0, 0, 3}}) == std::vector<float>{5, 18}));
    const auto volume = texture_of(resource_of(array_of(values, 3, 2, 4)), reading(cudaAddressModeBorder));
    EXPECT((read<float, 3>(volume, {{2, 1, 3, 0}, {2, 1, 4, 0}, {0, 0, -1, 0}}) == std::vector<float>{23, 0, 0}));
}

void check_descriptors() {
    const auto numbers = linear(std::vector<float>(64));
    cudaTextureObject_t object = 77;
    cudaTextureDesc how = reading();
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(nullptr, &numbers, &how, nullptr));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(&object, nullptr, &how, nullptr));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaCreateTextureObject(&object, &numbers, nullptr, nullptr));
    const cudaResourceViewDesc view{};
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(&object, &numbers, &how, &view));
    auto changed = numbers;
    changed.res.linear.desc.y = 16;
    EXPECT_ERROR(cudaErrorInvalidChannelDescriptor, cudaCreateTextureObject(&object, &changed, &how, nullptr));
    changed = numbers;
    changed.res.linear.devPtr = static_cast<float*>(numbers.res.linear.devPtr) + 1;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(&object, &changed, &how, nullptr));
    changed = numbers;
    changed.res.linear.devPtr = nullptr;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(&object, &changed, &how, nullptr));
    const auto integers = resource_of(array_of(std::vector<int>{1, 2}, 2));
    how.filterMode = cudaFilterModeLinear;
    EXPECT_ERROR(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&object, &integers, &how, nullptr));
    how = reading();
    how.readMode = cudaReadModeNormalizedFloat;
    EXPECT_ERROR(cudaErrorInvalidNormSetting, cudaCreateTextureObject(&object, &integers, &how, nullptr));
    EXPECT(object == 77);

    how = reading(cudaAddressModeMirror, cudaFilterModePoint, true);
    const auto texture = texture_of(integers, how);
    cudaTextureDesc told{};
    cudaResourceDesc told_resource{};
    cudaResourceViewDesc told_view{};
    OK(cudaGetTextureObjectTextureDesc(&told, texture));
    EXPECT(told.addressMode[2] == cudaAddressModeMirror && told.normalizedCoords == 1);
    OK(cudaGetTextureObjectResourceDesc(&told_resource, texture));
    EXPECT(told_resource.resType == cudaResourceTypeArray);
    EXPECT(told_resource.res.array.array == integers.res.array.array);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&told_view, texture));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&told, texture + 1));
}

// From here on: what the virtual GPU finds, and a real one need not.
void check_refused() {
    const auto numbers = texture_of(linear(std::vector<float>{1}), {});
    OK(cudaDestroyTextureObject(numbers));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaDestroyTextureObject(numbers));
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    const auto array = resource_of(array_of(std::vector<uchar4>(4), 2, 2));
    cudaTextureObject_t object = 0;
    auto how = reading();
    how.sRGB = 1;
    EXPECT_ERROR(cudaErrorNotSupported, cudaCreateTextureObject(&object, &array, &how, nullptr));
    how = reading();
    how.maxAnisotropy = 4;
    EXPECT_ERROR(cudaErrorNotSupported, cudaCreateTextureObject(&object, &array, &how, nullptr));
    how = reading(cudaAddressModeBorder);
    how.borderColor[3] = 1;
    EXPECT_ERROR(cudaErrorNotSupported, cudaCreateTextureObject(&object, &array, &how, nullptr));
    how = reading();
    const cudaResourceViewDesc view{};
    EXPECT_ERROR(cudaErrorNotSupported, cudaCreateTextureObject(&object, &array, &how, &view));
    auto mipmapped = array;
    mipmapped.resType = cudaResourceTypeMipmappedArray;
    EXPECT_ERROR(cudaErrorNotSupported, cudaCreateTextureObject(&object, &mipmapped, &how, nullptr));
    // More than there is.
    auto beyond = linear(std::vector<float>(64));
    beyond.res.linear.sizeInBytes += 4;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(&object, &beyond, &how, nullptr));
}

template <class Spoil>
void check_fault(Spoil&& spoil) {
    cudaArray_t array = array_of(std::vector<float>{1, 2, 3, 4}, 2, 2);
    cudaTextureObject_t texture = texture_of(resource_of(array), reading());
    Position* places = upload(std::vector<Position>{{0, 0, 0, 0}});
    float* result = upload(std::vector<float>{-1});
    const cudaError_t expected = spoil(array, texture);
    fetch<float, 2><<<1, 1>>>(texture, places, result, 1);
    EXPECT_ERROR(expected, cudaDeviceSynchronize());
}
void check_freed() {
    check_fault([](cudaArray_t array, cudaTextureObject_t) {
        OK(cudaFreeArray(array));
        return cudaErrorIllegalAddress;
    });
}
void check_destroyed() {
    check_fault([](cudaArray_t, cudaTextureObject_t texture) {
        OK(cudaDestroyTextureObject(texture));
        return cudaErrorIllegalAddress;
    });
}
void check_wrong_handle() {
    check_fault([](cudaArray_t, cudaTextureObject_t& texture) {
        texture = 0x1234;
        return cudaErrorIllegalAddress;
    });
}
void check_wrong_kind() {
    check_fault([](cudaArray_t, cudaTextureObject_t& texture) {
        texture = texture_of(resource_of(array_of(std::vector<float>(8), 2, 2, 2)), reading());
        return cudaErrorLaunchFailure;
    });
}

}  // namespace

int main(int argc, char** argv) {
    return run_check(argc, argv,
                     {{"linear memory", check_linear_memory},
                      {"addressing", check_addressing},
                      {"filtering", check_filtering},
                      {"formats", check_formats},
                      {"pitched", check_pitched},
                      {"layers", check_layers},
                      {"descriptors", check_descriptors},
                      {"refused", check_refused},
                      {"freed", check_freed},
                      {"destroyed", check_destroyed},
                      {"wrong handle", check_wrong_handle},
                      {"wrong kind", check_wrong_kind}});
}
