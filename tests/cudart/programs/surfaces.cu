// Surface objects: loads and stores of an array's texels by byte offset and row.
#include "images.cuh"

namespace {

template <class T>
__global__ void shift_rows(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
    const int x = threadIdx.x, y = threadIdx.y;
    if (x >= width || y >= height) return;
    const T value = surf2Dread<T>(from, x * static_cast<int>(sizeof(T)), y);
    surf2Dwrite(value, to, (x + 1) % width * static_cast<int>(sizeof(T)), y);
}
__global__ void write_edges(cudaSurfaceObject_t line, float* found) {
    surf1Dwrite(7.0f, line, -4, cudaBoundaryModeZero);   // nowhere
    surf1Dwrite(8.0f, line, 100, cudaBoundaryModeClamp);  // the last one
    found[0] = surf1Dread<float>(line, 400, cudaBoundaryModeZero);
    found[1] = surf1Dread<float>(line, -400, cudaBoundaryModeClamp);
    found[2] = surf1Dread<float>(line, 12);
}
__global__ void write_deep(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers) {
    surf3Dwrite(static_cast<unsigned char>(9), volume, 1, 0, 2);
    surf2DLayeredwrite(make_float2(1, 2), layers, 8, 1, 2);
}
__global__ void read_outside(cudaSurfaceObject_t line) { surf1Dwrite(1.0f, line, 16); }

cudaSurfaceObject_t surface_of(cudaArray_t array) {
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface = 0;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

template <class T>
std::vector<T> bytes_of(cudaArray_t array, std::size_t width, std::size_t height, std::size_t depth) {
    std::vector<T> values(width * height * depth);
    cudaMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstPtr = {values.data(), width * sizeof(T), width, height};
    copy.extent = {width, height, depth};
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    return values;
}

void check_surfaces() {
    const unsigned flags = cudaArraySurfaceLoadStore;
    std::vector<float4> colours(5 * 3);
    for (int i = 0; i < 15; ++i) colours[i] = {1.0f * i, 2.0f * i, 3.0f * i, 4.0f * i};
    cudaArray_t from = array_of(colours, 5, 3, 0, flags), to = array_of(colours, 5, 3, 0, flags);
    shift_rows<float4><<<1, dim3(8, 4)>>>(surface_of(from), surface_of(to), 5, 3);
    OK(cudaDeviceSynchronize());
    const auto shifted = bytes_of<float4>(to, 5, 3, 1);
    for (int i = 0; i < 15; ++i) EXPECT(shifted[i / 5 * 5 + (i + 1) % 5].w == 4.0f * i);
    // What a surface writes, a texture reads in the next launch.
    EXPECT((read<float4, 2>(texture_of(resource_of(to), reading()), {{1, 2, 0, 0}})[0].y == 20));

    cudaArray_t line = array_of(std::vector<float>{1, 2, 3, 4}, 4, 0, 0, flags);
    float* found = upload(std::vector<float>(3, -1));
    write_edges<<<1, 1>>>(surface_of(line), found);
    OK(cudaDeviceSynchronize());
    EXPECT((download(found, 3) == std::vector<float>{0, 1, 8}));
    EXPECT((bytes_of<float>(line, 4, 1, 1) == std::vector<float>{1, 2, 3, 8}));

    cudaArray_t volume = array_of(std::vector<unsigned char>(12), 2, 2, 3, flags);
    cudaArray_t layers = array_of(std::vector<float2>(12), 2, 2, 3, flags | cudaArrayLayered);
    write_deep<<<1, 1>>>(surface_of(volume), surface_of(layers));
    OK(cudaDeviceSynchronize());
    EXPECT(bytes_of<unsigned char>(volume, 2, 2, 3)[2 * 4 + 1] == 9);
    EXPECT(bytes_of<float2>(layers, 2, 2, 3)[2 * 4 + 3].y == 2);

    // Only arrays that are made for it.
    cudaSurfaceObject_t object = 0;
    auto resource = resource_of(array_of(std::vector<float>(4), 4));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateSurfaceObject(&object, &resource));
    resource = linear(std::vector<float>(4));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateSurfaceObject(&object, &resource));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateSurfaceObject(nullptr, &resource));
    object = surface_of(line);
    OK(cudaGetSurfaceObjectResourceDesc(&resource, object));
    EXPECT(resource.res.array.array == line);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaDestroyTextureObject(object));
    OK(cudaDestroySurfaceObject(object));
}

void check_outside() {
    cudaArray_t line = array_of(std::vector<float>(4), 4, 0, 0, cudaArraySurfaceLoadStore);
    read_outside<<<1, 1>>>(surface_of(line));
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
    return run_check(argc, argv, {{"surfaces", check_surfaces}, {"outside", check_outside}});
}
