// Right ways to read managed memory: after a wait of any kind, and memory that no running kernel writes.
#include <atomic>
#include <cstring>

__managed__ int total;

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void sum(const int* x) { atomicAdd(&total, x[threadIdx.x]); }
__global__ void answer(int* x, int* flag) {
    x[threadIdx.x] = 42;
    __threadfence_system();
    if (threadIdx.x == 0) *reinterpret_cast<volatile int*>(flag) = 1;
}

void tell(void* done) { static_cast<std::atomic<bool>*>(done)->store(true); }
void look(void* x) { static_cast<int*>(x)[1] += 1; }

int main() {
    constexpr int n = 8192, bytes = n * sizeof(int);
    int *x, *y, *flag, *d, copy[4];
    cudaMallocManaged(&x, bytes), cudaMallocManaged(&y, bytes), cudaMallocManaged(&flag, sizeof(int));
    cudaMalloc(&d, sizeof copy);
    cudaStream_t stream, other;
    cudaStreamCreate(&stream), cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEvent_t event;
    cudaEventCreate(&event);
    bool right = true;

    std::memset(y, 0, bytes);
    fill<<<1, 256>>>(x);
    right &= y[0] == 0;       // no kernel uses it
    x[n - 1] = 5, x[300] = 6;  // the kernel writes only the first 256 elements
    cudaDeviceSynchronize();
    right &= x[255] == 255;

    fill<<<1, 256, 0, stream>>>(x);
    fill<<<1, 256, 0, other>>>(y);
    cudaStreamSynchronize(stream);
    right &= x[1] == 1;
    cudaStreamSynchronize(other);
    right &= y[1] == 1;

    fill<<<1, 256, 0, stream>>>(x);
    cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    right &= x[1] == 1;

    fill<<<1, 256>>>(x);
    cudaMemcpy(copy, d, sizeof copy, cudaMemcpyDeviceToHost);  // waits for the default stream
    right &= x[1] == 1;

    fill<<<1, 256, 0, stream>>>(x);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) continue;
    right &= x[1] == 1;

    fill<<<1, 256, 0, stream>>>(x);
    cudaLaunchHostFunc(stream, look, x);  // in the order of the stream
    cudaStreamSynchronize(stream);
    right &= x[1] == 2;

    std::atomic<bool> done = false;
    fill<<<1, 256, 0, stream>>>(x);
    cudaLaunchHostFunc(stream, tell, &done);  // and tells other host code
    while (!done) continue;
    right &= x[1] == 1;
    cudaStreamSynchronize(stream);

    fill<<<1, 256>>>(x);
    sum<<<1, 256>>>(x);
    cudaDeviceSynchronize();
    right &= total == 255 * 128;

    *flag = 0;
    answer<<<1, 32>>>(x, flag);
    while (*static_cast<volatile int*>(flag) == 0) continue;  // the kernel tells the host itself
    std::atomic_thread_fence(std::memory_order_acquire);
    right &= x[0] == 42;
    cudaDeviceSynchronize();

    cudaEventDestroy(event);
    cudaStreamDestroy(stream), cudaStreamDestroy(other);
    cudaFree(x), cudaFree(y), cudaFree(flag), cudaFree(d);
    return right ? 0 : 1;
}
