// What may go through the read-only cache: what an earlier launch has written, other elements of the same array, in
// place what each thread reads before it writes it, and surfaces that the next launch reads as a texture.
__global__ void fill(float* a, float value) { a[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void halves(float* a, int n) {  // reads one half, writes the other
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[n + i] = __ldg(&a[i]) + __ldg(&a[n - 1 - i]);
}

__global__ void scale(const float* __restrict__ in, float* __restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void reverse(const float* __restrict__ in, float* __restrict__ out) {  // of one block, in place
    __shared__ float s[256];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[255 - threadIdx.x];
}

__global__ void draw(cudaSurfaceObject_t surface) { surf2Dwrite(1.0f, surface, threadIdx.x * 4, blockIdx.x); }

__global__ void look(cudaTextureObject_t texture, float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

int main() {
    const int n = 1024;
    float *a, result[2 * n];
    cudaMalloc(&a, sizeof result);
    fill<<<8, 256>>>(a, 3);
    halves<<<4, 256>>>(a, n);
    scale<<<4, 256>>>(a, a + n);
    scale<<<4, 256>>>(a, a);  // in place, each thread its own element
    reverse<<<1, 256>>>(a, a);
    cudaMemcpy(result, a, sizeof result, cudaMemcpyDeviceToHost);
    if (result[0] != 6 || result[n] != 6) return 1;

    cudaArray_t image;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMallocArray(&image, &channel, 32, 32, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = image;
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaSurfaceObject_t surface;
    cudaTextureObject_t texture;
    cudaCreateSurfaceObject(&surface, &resource);
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    draw<<<32, 32>>>(surface);
    look<<<32, 32>>>(texture, a);
    cudaMemcpy(result, a, sizeof result, cudaMemcpyDeviceToHost);
    cudaDestroySurfaceObject(surface);
    cudaDestroyTextureObject(texture);
    cudaFreeArray(image);
    cudaFree(a);
    return result[1023] == 1 ? 0 : 1;
}
