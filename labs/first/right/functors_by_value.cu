// RIGHT: one kernel template for vectors and one for images, whose arrays are in functors passed by value; the sum begins as a copy of b on the device; pixels taken from whole words
#include "check.cuh"
#include "first.h"

#include <memory>

template <typename Work>
__global__ void for_each(int n, Work work) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) work(i);
}

template <typename Work>
__global__ void for_each_pixel(int width, int height, Work work) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) work(y * width + x);
}

struct Add {
    const float* from;
    float* to;
    __device__ void operator()(int i) const { to[i] += from[i]; }
};

struct Scale {
    float factor;
    float* x;
    __device__ void operator()(int i) const { x[i] *= factor; }
};

struct Gray {
    const unsigned char* rgb;
    unsigned char* gray;
    // The three bytes of a pixel lie in one word or in two.
    __device__ void operator()(int pixel) const {
        const auto* words = reinterpret_cast<const unsigned*>(rgb) + 3 * pixel / 4;
        const int shift = 3 * pixel % 4;
        const unsigned low = words[0], high = shift >= 2 ? words[1] : 0;
        const unsigned bytes = __funnelshift_r(low, high, 8 * shift);
        gray[pixel] = __dp4a(bytes & 0xffffff, 77u | 150u << 8 | 29u << 16, 0u) / 256;
    }
};

struct Release {
    void operator()(void* memory) const { CHECK(cudaFree(memory)); }
};
template <typename T>
using Device = std::unique_ptr<T[], Release>;

template <typename T>
Device<T> on_device(std::size_t count) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    return Device<T>(static_cast<T*>(memory));
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const auto d_a = on_device<float>(n), d_c = on_device<float>(n);
    CHECK(cudaMemcpy(d_a.get(), a, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_c.get(), b, n * sizeof(float), cudaMemcpyHostToDevice));
    for_each<<<(n - 1) / 128 + 1, 128>>>(n, Add{d_a.get(), d_c.get()});
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, d_c.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    const auto d_x = on_device<float>(n);
    CHECK(cudaMemcpy(d_x.get(), x, n * sizeof(float), cudaMemcpyHostToDevice));
    for_each<<<blocks, threads>>>(n, Scale{factor, d_x.get()});
    if (const cudaError_t error = cudaGetLastError()) return error;
    CHECK(cudaMemcpy(x, d_x.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
    return 0;
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    const std::size_t pixels = std::size_t(width) * height;
    // Whole words, so that the last pixel's can be read; what follows it there is zero.
    const std::size_t room = (3 * pixels + 3) / 4 * 4;
    const auto d_rgb = on_device<unsigned char>(room);
    CHECK(cudaMemset(d_rgb.get(), 0, room));
    const auto d_gray = on_device<unsigned char>(pixels);
    CHECK(cudaMemcpy(d_rgb.get(), rgb, 3 * pixels, cudaMemcpyHostToDevice));
    const dim3 block(32, 4), grid((width + 31) / 32, (height + 3) / 4);
    for_each_pixel<<<grid, block>>>(width, height, Gray{d_rgb.get(), d_gray.get()});
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(gray, d_gray.get(), pixels, cudaMemcpyDeviceToHost));
}
