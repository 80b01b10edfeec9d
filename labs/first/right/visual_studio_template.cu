// RIGHT: as the template of Visual Studio has it: cudaSetDevice, a status that is asked each time, goto Error, and cudaDeviceReset at the end; grayness in float
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#include <stdio.h>

#include "first.h"

__global__ void addKernel(float* c, const float* a, const float* b, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

// Helper function for using CUDA to add vectors in parallel.
static cudaError_t addWithCuda(float* c, const float* a, const float* b, unsigned int size) {
    float* dev_a = 0;
    float* dev_b = 0;
    float* dev_c = 0;
    cudaError_t cudaStatus;

    // Choose which GPU to run on, change this on a multi-GPU system.
    cudaStatus = cudaSetDevice(0);
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaSetDevice failed! Do you have a CUDA-capable GPU installed?");
        goto Error;
    }

    // Allocate GPU buffers for three vectors (two input, one output).
    cudaStatus = cudaMalloc((void**)&dev_c, size * sizeof(float));
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaMalloc failed!");
        goto Error;
    }
    cudaStatus = cudaMalloc((void**)&dev_a, size * sizeof(float));
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaMalloc failed!");
        goto Error;
    }
    cudaStatus = cudaMalloc((void**)&dev_b, size * sizeof(float));
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaMalloc failed!");
        goto Error;
    }

    // Copy input vectors from host memory to GPU buffers.
    cudaStatus = cudaMemcpy(dev_a, a, size * sizeof(float), cudaMemcpyHostToDevice);
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaMemcpy failed!");
        goto Error;
    }
    cudaStatus = cudaMemcpy(dev_b, b, size * sizeof(float), cudaMemcpyHostToDevice);
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaMemcpy failed!");
        goto Error;
    }

    // Launch a kernel on the GPU with one thread for each element.
    addKernel<<<(size + 255) / 256, 256>>>(dev_c, dev_a, dev_b, size);

    // Check for any errors launching the kernel
    cudaStatus = cudaGetLastError();
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "addKernel launch failed: %s\n", cudaGetErrorString(cudaStatus));
        goto Error;
    }

    // cudaDeviceSynchronize waits for the kernel to finish, and returns
    // any errors encountered during the launch.
    cudaStatus = cudaDeviceSynchronize();
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaDeviceSynchronize returned error code %d after launching addKernel!\n", cudaStatus);
        goto Error;
    }

    // Copy output vector from GPU buffer to host memory.
    cudaStatus = cudaMemcpy(c, dev_c, size * sizeof(float), cudaMemcpyDeviceToHost);
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaMemcpy failed!");
        goto Error;
    }

Error:
    cudaFree(dev_c);
    cudaFree(dev_a);
    cudaFree(dev_b);
    return cudaStatus;
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    cudaError_t cudaStatus = addWithCuda(c, a, b, n);
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "addWithCuda failed!");
        return;
    }
    // cudaDeviceReset must be called before exiting in order for profiling and
    // tracing tools such as Nsight and Visual Profiler to show complete traces.
    cudaStatus = cudaDeviceReset();
    if (cudaStatus != cudaSuccess) fprintf(stderr, "cudaDeviceReset failed!");
}

__global__ void scaleKernel(float* x, int n, float factor) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    while (i < n) {
        x[i] = factor * x[i];
        i += gridDim.x * blockDim.x;
    }
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    float* dev_x = 0;
    cudaError_t cudaStatus = cudaSuccess;
    if (n <= 0) return 0;

    cudaStatus = cudaMalloc((void**)&dev_x, n * sizeof(float));
    if (cudaStatus != cudaSuccess) goto Error;
    cudaStatus = cudaMemcpy(dev_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    if (cudaStatus != cudaSuccess) goto Error;
    scaleKernel<<<blocks, threads>>>(dev_x, n, factor);
    cudaStatus = cudaGetLastError();
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "scaleKernel launch failed: %s\n", cudaGetErrorString(cudaStatus));
        goto Error;
    }
    cudaStatus = cudaDeviceSynchronize();
    if (cudaStatus != cudaSuccess) goto Error;
    cudaStatus = cudaMemcpy(x, dev_x, n * sizeof(float), cudaMemcpyDeviceToHost);

Error:
    cudaFree(dev_x);
    return cudaStatus;
}

__global__ void grayKernel(unsigned char* gray, const unsigned char* rgb, int width, int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < width && y < height) {
        int offset = x + y * width;
        unsigned char r = rgb[3 * offset];
        unsigned char g = rgb[3 * offset + 1];
        unsigned char b = rgb[3 * offset + 2];
        // Sums of up to 65280 and a division by 256 are exact in float.
        gray[offset] = (unsigned char)((77.0f * r + 150.0f * g + 29.0f * b) / 256.0f);
    }
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    unsigned char* dev_rgb = 0;
    unsigned char* dev_gray = 0;
    size_t pixels = (size_t)width * height;
    dim3 threadsPerBlock(16, 16);
    dim3 numBlocks((width + threadsPerBlock.x - 1) / threadsPerBlock.x,
                   (height + threadsPerBlock.y - 1) / threadsPerBlock.y);
    cudaError_t cudaStatus = cudaMalloc((void**)&dev_rgb, 3 * pixels);
    if (cudaStatus != cudaSuccess) goto Error;
    cudaStatus = cudaMalloc((void**)&dev_gray, pixels);
    if (cudaStatus != cudaSuccess) goto Error;
    cudaStatus = cudaMemcpy(dev_rgb, rgb, 3 * pixels, cudaMemcpyHostToDevice);
    if (cudaStatus != cudaSuccess) goto Error;
    grayKernel<<<numBlocks, threadsPerBlock>>>(dev_gray, dev_rgb, width, height);
    cudaStatus = cudaGetLastError();
    if (cudaStatus != cudaSuccess) goto Error;
    cudaStatus = cudaMemcpy(gray, dev_gray, pixels, cudaMemcpyDeviceToHost);

Error:
    if (cudaStatus != cudaSuccess) fprintf(stderr, "gray_image failed: %s\n", cudaGetErrorString(cudaStatus));
    cudaFree(dev_rgb);
    cudaFree(dev_gray);
}
