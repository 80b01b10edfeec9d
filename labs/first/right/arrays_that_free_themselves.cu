// RIGHT: a class that owns device memory, templates, blocks of 128 and of 16 × 16
#include "first.h"
#include "check.cuh"

template <class T>
class DeviceArray {
  public:
    explicit DeviceArray(std::size_t count) : bytes_(count * sizeof(T)) { CHECK(cudaMalloc(&data_, bytes_)); }
    DeviceArray(const T* source, std::size_t count) : DeviceArray(count) {
        CHECK(cudaMemcpy(data_, source, bytes_, cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { CHECK(cudaFree(data_)); }
    void copy_to(T* target) const { CHECK(cudaMemcpy(target, data_, bytes_, cudaMemcpyDeviceToHost)); }
    T* data() const { return data_; }

  private:
    T* data_ = nullptr;
    std::size_t bytes_;
};

template <class T>
__global__ void add(const T* a, const T* b, T* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = a[i] + b[i];
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const DeviceArray d_a(a, n), d_b(b, n);
    const DeviceArray<float> d_c(n);
    add<<<(n - 1) / 128 + 1, 128>>>(d_a.data(), d_b.data(), d_c.data(), n);
    CHECK(cudaGetLastError());
    d_c.copy_to(c);
}

template <class T>
__global__ void scale(T* x, int n, T factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = factor * x[i];
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return cudaSuccess;
    const DeviceArray d_x(x, n);
    scale<<<blocks, threads>>>(d_x.data(), n, factor);
    const auto error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    d_x.copy_to(x);
    return cudaSuccess;
}

__global__ void gray_pixels(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) {
        const int at = y * width + x;
        gray[at] = (77 * rgb[3 * at] + 150 * rgb[3 * at + 1] + 29 * rgb[3 * at + 2]) >> 8;
    }
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    const std::size_t pixels = std::size_t(width) * height;
    const DeviceArray d_rgb(rgb, 3 * pixels);
    const DeviceArray<unsigned char> d_gray(pixels);
    gray_pixels<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(d_rgb.data(), d_gray.data(), width, height);
    CHECK(cudaGetLastError());
    d_gray.copy_to(gray);
}
